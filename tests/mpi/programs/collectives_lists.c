/* SPDX-License-Identifier: MIT */
/* Claim: collectives whose counts differ by rank return early and give what MPI's own give: blocks in any order, of
 * none at all, of types with gaps, in place, for large counts on some ranks. Their lists may be overwritten at once.
 * defers: collective
 * ranks: 2 3 4
 * timeout: 120 */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { COUNT = 50001, ROUNDS = 7, RANKS_MAX = 8, ROWS = 96 };

static uint32_t *sent;
static uint32_t *received;
static int counts[RANKS_MAX];
static int displacements[RANKS_MAX];
static int own_counts[RANKS_MAX];
static int own_displacements[RANKS_MAX];

/* The same for the functions for large counts, which some ranks call where the library has them. */
static MPI_Count large_counts[RANKS_MAX];
static MPI_Aint large_displacements[RANKS_MAX];
static MPI_Count large_own_counts[RANKS_MAX];
static MPI_Aint large_own_displacements[RANKS_MAX];

static bool is_large_call(int round)
{
    for (int i = 0; i < RANKS_MAX; i++) {
        large_counts[i] = counts[i];
        large_displacements[i] = displacements[i];
        large_own_counts[i] = own_counts[i];
        large_own_displacements[i] = own_displacements[i];
    }
    return MPI_VERSION >= 4 && (check_rank() + round) % 2 == 0;
}

#if MPI_VERSION < 4
/* Never called. */
#define MPI_Allgatherv_c(...) ((void)0)
#define MPI_Alltoallv_c(...) ((void)0)
#define MPI_Alltoallw_c(...) ((void)0)
#define MPI_Gatherv_c(...) ((void)0)
#define MPI_Reduce_scatter_c(...) ((void)0)
#define MPI_Scatterv_c(...) ((void)0)
#endif

static uint32_t value(int round, int from, int to, size_t i)
{
    return (uint32_t)round * 7919U + (uint32_t)from * 104729U + (uint32_t)to * 1299709U + (uint32_t)i * 2654435761U;
}

static int count_of(int round, int from, int to)
{
    return COUNT * ((from + 2 * to + round) % 3);
}

/* Blocks from the last rank to the first. Returns how much there is of all. */
static int place(int of_counts[], int of_displacements[])
{
    int sum = 0;
    for (int rank = check_size() - 1; rank >= 0; rank--) {
        of_displacements[rank] = sum;
        sum += of_counts[rank];
    }
    return sum;
}

static void lists_make(int round)
{
    for (int peer = 0; peer < check_size(); peer++) {
        own_counts[peer] = count_of(round, check_rank(), peer);
        counts[peer] = count_of(round, peer, check_rank());
    }
    place(own_counts, own_displacements);
    place(counts, displacements);
}

/* Nobody may look at them after the call. */
static void lists_spoil(void)
{
    memset(counts, 0x7F, sizeof counts);
    memset(displacements, 0x7F, sizeof displacements);
    memset(own_counts, 0x7F, sizeof own_counts);
    memset(own_displacements, 0x7F, sizeof own_displacements);
    memset(large_counts, 0x7F, sizeof large_counts);
    memset(large_displacements, 0x7F, sizeof large_displacements);
    memset(large_own_counts, 0x7F, sizeof large_own_counts);
    memset(large_own_displacements, 0x7F, sizeof large_own_displacements);
}

static void fill(uint32_t *buffer, size_t count, int round, int from, int to)
{
    for (size_t i = 0; i < count; i++)
        buffer[i] = value(round, from, to, i);
}

static void expect(const uint32_t *buffer, size_t count, int round, int from, int to, const char *claim)
{
    for (size_t i = 0; i < count; i++)
        check(buffer[i] == value(round, from, to, i), claim);
}

static void fill_all(int round)
{
    for (int peer = 0; peer < check_size(); peer++)
        fill(sent + own_displacements[peer], (size_t)own_counts[peer], round, check_rank(), peer);
}

static void expect_all(int round, const char *claim)
{
    lists_make(round);
    for (int peer = 0; peer < check_size(); peer++)
        expect(received + displacements[peer], (size_t)counts[peer], round, peer, check_rank(), claim);
}

static void alltoallv(int round)
{
    lists_make(round);
    fill_all(round);
    if (is_large_call(round))
        MPI_Alltoallv_c(sent, large_own_counts, large_own_displacements, MPI_UINT32_T, received, large_counts,
                        large_displacements, MPI_UINT32_T, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(sent, own_counts, own_displacements, MPI_UINT32_T, received, counts, displacements, MPI_UINT32_T,
                      MPI_COMM_WORLD);
    lists_spoil();
    expect_all(round, "MPI_Alltoallv");
}

/* Each pair exchanges as much. Open MPI 4.1's MPI_Ialltoallv mixes blocks up there from four ranks on. */
static void alltoallv_in_place(int round)
{
    for (int peer = 0; peer < check_size(); peer++)
        own_counts[peer] = counts[peer] = COUNT * ((check_rank() + peer + round) % 3);
    place(own_counts, own_displacements);
    fill_all(round);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, sent, own_counts, own_displacements, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    for (int peer = 0; peer < check_size(); peer++)
        expect(sent + own_displacements[peer], (size_t)own_counts[peer], round, peer, check_rank(),
               "MPI_Alltoallv in place");
}

/* What all ranks have of one: as many as that rank's number says. */
static void gathers(int round, int root)
{
    for (int rank = 0; rank < check_size(); rank++)
        counts[rank] = COUNT * (1 + (rank + round) % 3);
    place(counts, displacements);
    int own = counts[check_rank()];
    fill(sent, (size_t)own, round, check_rank(), 0);
    bool is_large = is_large_call(round);
    if (is_large)
        MPI_Allgatherv_c(sent, own, MPI_UINT32_T, received, large_counts, large_displacements, MPI_UINT32_T,
                         MPI_COMM_WORLD);
    else
        MPI_Allgatherv(sent, own, MPI_UINT32_T, received, counts, displacements, MPI_UINT32_T, MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size(); rank++)
        expect(received + displacements[rank], (size_t)counts[rank], round, rank, 0, "MPI_Allgatherv");
    fill(received + displacements[check_rank()], (size_t)own, -round, check_rank(), 0);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, counts, displacements, MPI_UINT32_T, MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size(); rank++)
        expect(received + displacements[rank], (size_t)counts[rank], -round, rank, 0, "MPI_Allgatherv in place");
    bool is_root = check_rank() == root;
    if (is_large)
        MPI_Gatherv_c(sent, own, MPI_UINT32_T, is_root ? received : NULL, is_root ? large_counts : NULL,
                      is_root ? large_displacements : NULL, MPI_UINT32_T, root, MPI_COMM_WORLD);
    else
        MPI_Gatherv(sent, own, MPI_UINT32_T, is_root ? received : NULL, is_root ? counts : NULL,
                    is_root ? displacements : NULL, MPI_UINT32_T, root, MPI_COMM_WORLD);
    for (int rank = 0; is_root && rank < check_size(); rank++)
        expect(received + displacements[rank], (size_t)counts[rank], round, rank, 0, "MPI_Gatherv");
    if (is_large)
        MPI_Scatterv_c(is_root ? received : NULL, is_root ? large_counts : NULL, is_root ? large_displacements : NULL,
                       MPI_UINT32_T, sent, own, MPI_UINT32_T, root, MPI_COMM_WORLD);
    else
        MPI_Scatterv(is_root ? received : NULL, is_root ? counts : NULL, is_root ? displacements : NULL, MPI_UINT32_T,
                     sent, own, MPI_UINT32_T, root, MPI_COMM_WORLD);
    lists_spoil();
    expect(sent, (size_t)own, round, check_rank(), 0, "MPI_Scatterv");
}

static void reduce_scatter(int round)
{
    int sum = 0;
    int before = 0;
    for (int rank = 0; rank < check_size(); rank++) {
        counts[rank] = COUNT * (1 + (rank + round) % 2);
        before += rank < check_rank() ? counts[rank] : 0;
        sum += counts[rank];
    }
    int own = counts[check_rank()];
    fill(sent, (size_t)sum, round, check_rank(), 0);
    if (is_large_call(round))
        MPI_Reduce_scatter_c(sent, received, large_counts, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter(sent, received, counts, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    memset(large_counts, 0x7F, sizeof large_counts);
    memset(counts, 0x7F, sizeof counts);
    for (int i = 0; i < own; i++) {
        uint32_t expected = 0;
        for (int rank = 0; rank < check_size(); rank++)
            expected += value(round, rank, 0, (size_t)(before + i));
        check(received[i] == expected, "MPI_Reduce_scatter");
    }
}

/* Columns of a matrix, as a parallel FFT transposes it: each type has gaps, and together they have none. The types are
 * freed at once. */
static void transpose(int round)
{
    int size = check_size();
    int sizes[2] = {ROWS, COUNT / ROWS * size};
    int part[2] = {ROWS, COUNT / ROWS};
    MPI_Datatype types[RANKS_MAX];
    int *ones = counts;
    int *zeros = displacements;
    for (int peer = 0; peer < size; peer++) {
        int starts[2] = {0, part[1] * peer};
        ones[peer] = 1;
        zeros[peer] = 0;
        MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_UINT32_T, &types[peer]);
        MPI_Type_commit(&types[peer]);
    }
    fill(sent, (size_t)sizes[0] * (size_t)sizes[1], round, check_rank(), 0);
    if (is_large_call(round))
        MPI_Alltoallw_c(sent, large_counts, large_displacements, types, received, large_counts, large_displacements,
                        types, MPI_COMM_WORLD);
    else
        MPI_Alltoallw(sent, ones, zeros, types, received, ones, zeros, types, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++)
        MPI_Type_free(&types[peer]);
    lists_spoil();
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < sizes[1]; column++) {
            size_t from = (size_t)row * (size_t)sizes[1] + (size_t)(check_rank() * part[1] + column % part[1]);
            check(received[row * sizes[1] + column] == value(round, column / part[1], 0, from), "MPI_Alltoallw");
        }
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    size_t length_bytes = (size_t)check_size() * 3 * COUNT * sizeof(uint32_t);
    sent = (uint32_t *)check_buffer_new(2 * length_bytes) + 3;
    received = sent + length_bytes / sizeof(uint32_t) - 5; /* side by side */
    for (int round = 1; round <= ROUNDS; round++) {
        alltoallv(round);
        alltoallv_in_place(round);
        gathers(round, round % check_size());
        reduce_scatter(round);
        transpose(round);
    }
    return check_end();
}
