/* SPDX-License-Identifier: MIT */
/* Claim: a collective whose buffer shares its first and last page with other blocks of the heap returns early all the
 * same. What it has received is right in whatever order it is read, and so is what lies beside it.
 * arguments: bcast reduce allreduce in-place scan gather scatter allgather alltoall
 * defers: collective
 * ranks: 2 3
 * timeout: 120 */
#include <malloc.h>
#include <stdint.h>

#include "check.h"

enum { COUNT = 150001, BESIDE_BYTES = 1000, ROUNDS = 6 };

static const char *way;
static uint32_t *sent;
static uint32_t *received;
static unsigned char *before;
static unsigned char *behind;

static bool is_way(const char *word)
{
    return strcmp(way, word) == 0;
}

static uint32_t value(int round, int rank, size_t i)
{
    return (uint32_t)round * 7919U + (uint32_t)rank * 104729U + (uint32_t)i * 2654435761U;
}

static void fill(uint32_t *buffer, size_t count, int round, int rank)
{
    for (size_t i = 0; i < count; i++)
        buffer[i] = value(round, rank, i);
}

/* What element `i` of the received ones is to be: from_rank's, or the sum of the first ranks'. */
static uint32_t sum_of(int round, int ranks, size_t i)
{
    uint32_t sum = 0;
    for (int rank = 0; rank < ranks; rank++)
        sum += value(round, rank, i);
    return sum;
}

static uint32_t expected(int round, size_t i)
{
    size_t block = i / COUNT, within = i % COUNT;
    if (is_way("bcast") || is_way("scatter"))
        return value(round, 0, is_way("bcast") ? within : within + (size_t)check_rank() * COUNT);
    if (is_way("gather") || is_way("allgather"))
        return value(round, (int)block, within);
    if (is_way("alltoall"))
        return value(round, (int)block, within + (size_t)check_rank() * COUNT);
    return sum_of(round, is_way("scan") ? check_rank() + 1 : check_size(), within);
}

static void call(void)
{
    MPI_Datatype type = MPI_UINT32_T;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (is_way("bcast"))
        MPI_Bcast(received, COUNT, type, 0, comm);
    else if (is_way("reduce"))
        MPI_Reduce(sent, received, COUNT, type, MPI_SUM, 0, comm);
    else if (is_way("allreduce"))
        MPI_Allreduce(sent, received, COUNT, type, MPI_SUM, comm);
    else if (is_way("in-place"))
        MPI_Allreduce(MPI_IN_PLACE, received, COUNT, type, MPI_SUM, comm);
    else if (is_way("scan"))
        MPI_Scan(sent, received, COUNT, type, MPI_SUM, comm);
    else if (is_way("gather"))
        MPI_Gather(sent, COUNT, type, received, COUNT, type, 0, comm);
    else if (is_way("scatter"))
        MPI_Scatter(sent, COUNT, type, received, COUNT, type, 0, comm);
    else if (is_way("allgather"))
        MPI_Allgather(sent, COUNT, type, received, COUNT, type, comm);
    else
        MPI_Alltoall(sent, COUNT, type, received, COUNT, type, comm);
}

static void look_at(size_t i, int round)
{
    check(received[i] == expected(round, i), "what was received");
}

/* From the begin, from the end, or by long steps. */
static void look(int round)
{
    enum { STEP = 7919 };
    bool has_blocks = is_way("gather") || is_way("allgather") || is_way("alltoall");
    size_t count = (has_blocks ? (size_t)check_size() : 1) * COUNT;
    if ((is_way("gather") || is_way("reduce")) && check_rank() != 0)
        return;
    look_at(round % 2 == 0 ? 0 : count - 1, round); /* an edge first */
    for (size_t i = 0; i < count; i++)
        look_at(round % 3 == 0 ? i : round % 3 == 1 ? count - 1 - i : i * STEP % count, round);
}

/* The heap's own, whatever its length: with other blocks before and behind it. */
static void make_buffers(void)
{
    size_t all_bytes = (size_t)check_size() * COUNT * sizeof(uint32_t);
    mallopt(M_MMAP_MAX, 0);
    sent = malloc(all_bytes);
    before = malloc(BESIDE_BYTES);
    received = malloc(all_bytes);
    behind = malloc(BESIDE_BYTES);
    check(sent != NULL && before != NULL && received != NULL && behind != NULL, "memory");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    make_buffers();
    for (int round = 0; round < ROUNDS; round++) {
        unsigned seed = (unsigned)round;
        fill(sent, (size_t)check_size() * COUNT, round, check_rank());
        fill(received, COUNT, round, is_way("bcast") && check_rank() != 0 ? -1 : check_rank());
        check_fill(before, BESIDE_BYTES, seed);
        check_fill(behind, BESIDE_BYTES, seed);
        call();
        check(check_is_filled(before, BESIDE_BYTES, seed) && check_is_filled(behind, BESIDE_BYTES, seed), "beside it");
        check_fill(before, BESIDE_BYTES, seed + 1);
        look(round);
        check(check_is_filled(before, BESIDE_BYTES, seed + 1), "what was written beside it");
    }
    return check_end();
}
