/* SPDX-License-Identifier: MIT */
/* Claim: blocking collectives that return early give what MPI's own give: every function, in place, with buffers of odd
 * sizes that share pages with others, whichever rank is the root, and reused at once.
 * defers: collective
 * ranks: 2 3 4
 * timeout: 120 */
#include <stdint.h>

#include "check.h"

enum { COUNT = 70001, ROUNDS = 4, ODD = 3 };

static uint32_t *sent;
static uint32_t *received;

static uint32_t value(int round, int rank, size_t i)
{
    return (uint32_t)round * 7919U + (uint32_t)rank * 104729U + (uint32_t)i * 2654435761U;
}

static void fill(uint32_t *buffer, size_t count, int round, int rank)
{
    for (size_t i = 0; i < count; i++)
        buffer[i] = value(round, rank, i);
}

static void expect(const uint32_t *buffer, size_t count, int round, int rank, size_t from, const char *claim)
{
    for (size_t i = 0; i < count; i++)
        check(buffer[i] == value(round, rank, from + i), claim);
}

/* Block i of what was received is rank i's, from its element `from` on. */
static void expect_blocks(const uint32_t *buffer, int round, size_t from, const char *claim)
{
    for (int rank = 0; rank < check_size(); rank++)
        expect(buffer + (size_t)rank * COUNT, COUNT, round, rank, from, claim);
}

static void expect_sum(const uint32_t *buffer, int round, int ranks, size_t from, const char *claim)
{
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t sum = 0;
        for (int rank = 0; rank < ranks; rank++)
            sum += value(round, rank, from + i);
        check(buffer[i] == sum, claim);
    }
}

static void broadcast(int round, int root)
{
    fill(sent, COUNT, check_rank() == root ? round : -1, root);
    MPI_Bcast(sent, COUNT, MPI_UINT32_T, root, MPI_COMM_WORLD);
    expect(sent, COUNT, round, root, 0, "MPI_Bcast");
    sent[COUNT / 2] = 0; /* the root's own copy may be written, whatever is still being sent */
    MPI_Bcast(sent, COUNT, MPI_UINT32_T, root, MPI_COMM_WORLD);
    check(sent[COUNT / 2] == 0 && sent[0] == value(round, root, 0), "MPI_Bcast of a buffer that was written");
}

static void reductions(int round, int root)
{
    fill(sent, COUNT, round, check_rank());
    MPI_Allreduce(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    expect_sum(received, round, check_size(), 0, "MPI_Allreduce");
    MPI_Reduce(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, root, MPI_COMM_WORLD);
    if (check_rank() == root)
        expect_sum(received, round, check_size(), 0, "MPI_Reduce");
    MPI_Scan(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    expect_sum(received, round, check_rank() + 1, 0, "MPI_Scan");
    received[0] = 77;
    MPI_Exscan(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank() != 0)
        expect_sum(received, round, check_rank(), 0, "MPI_Exscan");
    MPI_Allreduce(MPI_IN_PLACE, sent, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    expect_sum(sent, round, check_size(), 0, "MPI_Allreduce in place");
}

static void exchanges(int round)
{
    size_t own = (size_t)check_rank() * COUNT;
    fill(sent, (size_t)check_size() * COUNT, round, check_rank());
    MPI_Allgather(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, MPI_COMM_WORLD);
    expect_blocks(received, round, 0, "MPI_Allgather");
    MPI_Alltoall(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, MPI_COMM_WORLD);
    expect_blocks(received, round, own, "MPI_Alltoall");
    MPI_Reduce_scatter_block(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    expect_sum(received, round, check_size(), own, "MPI_Reduce_scatter_block");
    fill(received + own, COUNT, round, check_rank());
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, COUNT, MPI_UINT32_T, MPI_COMM_WORLD);
    expect_blocks(received, round, 0, "MPI_Allgather in place");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sent, COUNT, MPI_UINT32_T, MPI_COMM_WORLD);
    expect_blocks(sent, round, own, "MPI_Alltoall in place");
}

static void rooted(int round, int root)
{
    bool is_root = check_rank() == root;
    size_t own = (size_t)check_rank() * COUNT;
    fill(sent, (size_t)check_size() * COUNT, round, check_rank());
    MPI_Gather(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, root, MPI_COMM_WORLD);
    if (is_root)
        expect_blocks(received, round, 0, "MPI_Gather");
    MPI_Scatter(sent, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, root, MPI_COMM_WORLD);
    expect(received, COUNT, round, root, own, "MPI_Scatter");
    fill(received + own, COUNT, round, check_rank());
    MPI_Gather(is_root ? MPI_IN_PLACE : received + own, COUNT, MPI_UINT32_T, received, COUNT, MPI_UINT32_T, root,
               MPI_COMM_WORLD);
    if (is_root)
        expect_blocks(received, round, 0, "MPI_Gather in place");
    MPI_Scatter(sent, COUNT, MPI_UINT32_T, is_root ? MPI_IN_PLACE : received, COUNT, MPI_UINT32_T, root,
                MPI_COMM_WORLD);
    if (!is_root)
        expect(received, COUNT, round, root, own, "MPI_Scatter in place");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    size_t length_bytes = (size_t)check_size() * COUNT * sizeof(uint32_t) + ODD * sizeof(uint32_t);
    sent = (uint32_t *)check_buffer_new(2 * length_bytes) + ODD;
    received = sent + (size_t)check_size() * COUNT; /* side by side */
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % check_size();
        broadcast(round, root);
        reductions(round, root);
        exchanges(round);
        rooted(round, root);
    }
    return check_end();
}
