/* SPDX-License-Identifier: MIT */
/* Claim: neighborhood collectives return early and give what MPI's own give: on each kind of topology, where neighbors
 * are nobody or named twice, with lists that may be overwritten at once, and for large counts on some ranks.
 * defers: collective
 * ranks: 3 4
 * arguments: cart ring graph adjacent
 * quick: userfaultfd signal-1
 * timeout: 120 */
#include <stdint.h>

#include "check.h"

enum { COUNT = 20001, ROUNDS = 9, NEIGHBORS_MAX = 16, TO_ALL = 99 };

static MPI_Comm comm;
static uint32_t *sent, *received;
static int source_count, target_count;
static int sources[NEIGHBORS_MAX], targets[NEIGHBORS_MAX];

/* Room for counts and displacements of either size. */
static union lists {
    int ints[NEIGHBORS_MAX];
    MPI_Aint aints[NEIGHBORS_MAX];
    MPI_Count counts[NEIGHBORS_MAX];
} send_counts, send_places, receive_counts, receive_places;

static uint32_t value(int round, int from, int to, size_t i)
{
    return (uint32_t)round * 7919U + (uint32_t)from * 104729U + (uint32_t)to * 1299709U + (uint32_t)i * 2654435761U;
}

static int count_of(int round, int from, int to)
{
    return COUNT * ((from + 2 * to + round) % 3);
}

/* --- topologies --- */

static void cart_make(int dimensions, int is_periodic)
{
    int sizes[2] = {check_size(), 1}, periods[2] = {is_periodic, 0};
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &comm);
    source_count = target_count = 2 * dimensions;
    for (int i = 0; i < dimensions; i++)
        MPI_Cart_shift(comm, i, 1, &sources[2 * i], &sources[2 * i + 1]);
    memcpy(targets, sources, sizeof targets);
}

/* Each rank's neighbors are all others. */
static void graph_make(void)
{
    int ends[NEIGHBORS_MAX], edges[NEIGHBORS_MAX], all = 0;
    for (int rank = 0; rank < check_size(); rank++) {
        for (int peer = check_size() - 1; peer >= 0; peer--)
            if (peer != rank)
                edges[all++] = peer;
        ends[rank] = all;
    }
    MPI_Graph_create(MPI_COMM_WORLD, check_size(), ends, edges, 0, &comm);
    source_count = target_count = check_size() - 1;
    MPI_Graph_neighbors(comm, check_rank(), source_count, sources);
    memcpy(targets, sources, sizeof targets);
}

static bool is_edge(int from, int to)
{
    return (from + 2 * to) % 3 != 1;
}

/* As many sources as targets on no rank but by chance, and edges to itself. */
static void adjacent_make(void)
{
    int weights[NEIGHBORS_MAX] = {0};
    for (int peer = 0; peer < check_size(); peer++) {
        if (is_edge(peer, check_rank()))
            sources[source_count++] = peer;
        if (is_edge(check_rank(), peer))
            targets[target_count++] = peer;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, source_count, sources, weights, target_count, targets, weights,
                                   MPI_INFO_NULL, 0, &comm);
}

static void topology_make(const char *way)
{
    if (strcmp(way, "cart") == 0)
        cart_make(2, 0);
    else if (strcmp(way, "ring") == 0)
        cart_make(1, 1);
    else if (strcmp(way, "graph") == 0)
        graph_make();
    else
        adjacent_make();
}

/* --- calls --- */

static void fill(uint32_t *buffer, int count, int round, int to)
{
    for (int i = 0; i < count; i++)
        buffer[i] = value(round, check_rank(), to, (size_t)i);
}

static void expect(const uint32_t *buffer, int count, int round, int from, int to, const char *claim)
{
    for (int i = 0; i < count; i++)
        check(buffer[i] == (from < 0 ? 0 : value(round, from, to, (size_t)i)), claim);
}

static void clear(void)
{
    memset(received, 0, (size_t)source_count * 2 * COUNT * sizeof *received);
}

static int count_sent(int round, int target)
{
    return target < 0 ? 0 : count_of(round, check_rank(), target);
}

static int count_received(int round, int source)
{
    return source < 0 ? 0 : count_of(round, source, check_rank());
}

/* Where the block of that neighbor lies: behind those before it. */
static int place_sent(int round, int index)
{
    int sum = 0;
    for (int i = 0; i < index; i++)
        sum += count_sent(round, targets[i]);
    return sum;
}

static int place_received(int round, int index)
{
    int sum = 0;
    for (int i = 0; i < index; i++)
        sum += count_received(round, sources[i]);
    return sum;
}

enum size { INTS, AINTS, COUNTS };

static void list_set(union lists *list, int i, int number, enum size size)
{
    if (size == INTS)
        list->ints[i] = number;
    else if (size == AINTS)
        list->aints[i] = number;
    else
        list->counts[i] = number;
}

/* What nobody sends or receives has a count all the same. unit: what displacements count by, in elements of 4 bytes. */
static void lists_make(int round, enum size counts, enum size places, int unit)
{
    enum { NOBODYS = 7 };
    for (int i = 0; i < target_count; i++) {
        list_set(&send_counts, i, targets[i] < 0 ? NOBODYS : count_sent(round, targets[i]), counts);
        list_set(&send_places, i, targets[i] < 0 ? 0 : unit * place_sent(round, i), places);
    }
    for (int i = 0; i < source_count; i++) {
        list_set(&receive_counts, i, sources[i] < 0 ? NOBODYS : count_received(round, sources[i]), counts);
        list_set(&receive_places, i, sources[i] < 0 ? 0 : unit * place_received(round, i), places);
    }
}

static void lists_spoil(void)
{
    memset(&send_counts, 0x7F, sizeof send_counts);
    memset(&send_places, 0x7F, sizeof send_places);
    memset(&receive_counts, 0x7F, sizeof receive_counts);
    memset(&receive_places, 0x7F, sizeof receive_places);
}

static bool is_large_call(int round)
{
#if MPI_VERSION >= 4
    return (check_rank() + round) % 2 == 0;
#else
    return round < 0;
#endif
}

#if MPI_VERSION < 4
/* Never called. */
#define MPI_Neighbor_allgather_c(...) ((void)0)
#define MPI_Neighbor_allgatherv_c(...) ((void)0)
#define MPI_Neighbor_alltoall_c(...) ((void)0)
#define MPI_Neighbor_alltoallv_c(...) ((void)0)
#define MPI_Neighbor_alltoallw_c(...) ((void)0)
#endif

static void allgather(int round)
{
    clear();
    fill(sent, COUNT, round, TO_ALL);
    if (is_large_call(round))
        MPI_Neighbor_allgather_c(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, comm);
    else
        MPI_Neighbor_allgather(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, comm);
    for (int i = 0; i < source_count; i++)
        expect(received + (size_t)i * COUNT, COUNT, round, sources[i], TO_ALL, "MPI_Neighbor_allgather");
}

static void alltoall(int round)
{
    clear();
    for (int i = 0; i < target_count; i++)
        fill(sent + (size_t)i * COUNT, COUNT, round, targets[i]);
    if (is_large_call(round))
        MPI_Neighbor_alltoall_c(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, comm);
    else
        MPI_Neighbor_alltoall(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, comm);
    for (int i = 0; i < source_count; i++)
        expect(received + (size_t)i * COUNT, COUNT, round, sources[i], check_rank(), "MPI_Neighbor_alltoall");
}

/* Each rank sends as many to all. */
static void allgatherv(int round)
{
    int own = COUNT * (1 + check_rank() % 2);
    bool is_large = is_large_call(round);
    clear();
    for (int i = 0; i < source_count; i++) {
        list_set(&receive_counts, i, sources[i] < 0 ? 7 : COUNT * (1 + sources[i] % 2), is_large ? COUNTS : INTS);
        list_set(&receive_places, i, 2 * i * COUNT, is_large ? AINTS : INTS);
    }
    fill(sent, own, round, TO_ALL);
    if (is_large)
        MPI_Neighbor_allgatherv_c(sent, own, MPI_UINT32_T, received, receive_counts.counts, receive_places.aints,
                                  MPI_UINT32_T, comm);
    else
        MPI_Neighbor_allgatherv(sent, own, MPI_UINT32_T, received, receive_counts.ints, receive_places.ints,
                                MPI_UINT32_T, comm);
    lists_spoil();
    for (int i = 0; i < source_count; i++)
        if (sources[i] >= 0)
            expect(received + 2 * (size_t)i * COUNT, COUNT * (1 + sources[i] % 2), round, sources[i], TO_ALL,
                   "MPI_Neighbor_allgatherv");
}

static void fill_targets(int round)
{
    clear();
    for (int i = 0; i < target_count; i++)
        fill(sent + place_sent(round, i), count_sent(round, targets[i]), round, targets[i]);
}

static void expect_sources(int round, const char *claim)
{
    for (int i = 0; i < source_count; i++)
        expect(received + place_received(round, i), count_received(round, sources[i]), round, sources[i], check_rank(),
               claim);
}

static void alltoallv(int round)
{
    bool is_large = is_large_call(round);
    lists_make(round, is_large ? COUNTS : INTS, is_large ? AINTS : INTS, 1);
    fill_targets(round);
    if (is_large)
        MPI_Neighbor_alltoallv_c(sent, send_counts.counts, send_places.aints, MPI_UINT32_T, received,
                                 receive_counts.counts, receive_places.aints, MPI_UINT32_T, comm);
    else
        MPI_Neighbor_alltoallv(sent, send_counts.ints, send_places.ints, MPI_UINT32_T, received, receive_counts.ints,
                               receive_places.ints, MPI_UINT32_T, comm);
    lists_spoil();
    expect_sources(round, "MPI_Neighbor_alltoallv");
}

static void alltoallw(int round)
{
    MPI_Datatype types[NEIGHBORS_MAX];
    bool is_large = is_large_call(round);
    for (int i = 0; i < NEIGHBORS_MAX; i++)
        types[i] = MPI_UINT32_T;
    lists_make(round, is_large ? COUNTS : INTS, AINTS, sizeof *sent);
    fill_targets(round);
    if (is_large)
        MPI_Neighbor_alltoallw_c(sent, send_counts.counts, send_places.aints, types, received, receive_counts.counts,
                                 receive_places.aints, types, comm);
    else
        MPI_Neighbor_alltoallw(sent, send_counts.ints, send_places.aints, types, received, receive_counts.ints,
                               receive_places.aints, types, comm);
    lists_spoil();
    expect_sources(round, "MPI_Neighbor_alltoallw");
}

/* A ring of two: which of a neighbor's two blocks comes first is MPI's affair, and must stay so. */
static void doubles(int round, MPI_Comm pair)
{
    uint32_t *second = sent + COUNT;
    sent[0] = 1;
    second[0] = 2;
    MPI_Neighbor_alltoall(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, pair);
    if (check_rank() == 0)
        printf("%d: blocks %u and %u\n", round, received[0], received[COUNT]);
}

static MPI_Comm pair_make(void)
{
    MPI_Comm two, pair = MPI_COMM_NULL;
    int size = 2, is_periodic = 1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank() < 2 ? 0 : MPI_UNDEFINED, check_rank(), &two);
    if (two != MPI_COMM_NULL) {
        MPI_Cart_create(two, 1, &size, &is_periodic, 0, &pair);
        MPI_Comm_free(&two);
    }
    return pair;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    topology_make(argv[1]);
    /* MPICH 4.0's own MPI_Neighbor_alltoallw is wrong where ranks have other numbers of sources and targets. */
    bool are_even = strcmp(argv[1], "adjacent") != 0 || check_size() % 3 == 0;
    MPI_Comm pair = pair_make();
    size_t length_bytes = (size_t)NEIGHBORS_MAX * 2 * COUNT * sizeof *sent;
    sent = (uint32_t *)check_buffer_new(length_bytes);
    received = (uint32_t *)check_buffer_new(length_bytes);
    for (int round = 1; round <= ROUNDS; round++) {
        allgather(round);
        alltoall(round);
        allgatherv(round);
        alltoallv(round);
        if (are_even)
            alltoallw(round);
        if (pair != MPI_COMM_NULL)
            doubles(round, pair);
    }
    MPI_Comm_free(&comm);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    return check_end();
}
