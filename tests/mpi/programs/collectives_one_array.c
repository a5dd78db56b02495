/* SPDX-License-Identifier: MIT */
/* Claim: what is sent and what is received may lie apart in one array, and have one address: each call gives what it
 * gives with two, whether the memory can be held or not.
 * ranks: 2 3
 * arguments: alltoallv alltoallw bottom allgatherv allgatherv_large gatherv scatterv reduce reduce_scatter */
#include <stdint.h>

#include "check.h"

enum { RANKS_MOST = 8, ROUNDS = 20, COUNT = 20001, COUNT_LARGE = 300001 };

/* Blocks that are sent, one or one for each rank, then those that are received: `count` elements each. An element takes
 * `stride` numbers, of which MPI moves the first. */
static uint32_t *array;
static int blocks_sent;
static int count;
static int stride;
static MPI_Datatype element;
static int counts_sent[RANKS_MOST], counts_received[RANKS_MOST];
static int places_sent[RANKS_MOST], places_received[RANKS_MOST];

static uint32_t value(int round, int from, int to)
{
    return (uint32_t)(round * 10000 + from * 100 + to + 1);
}

static uint32_t *block(int number)
{
    return array + (size_t)number * (size_t)count * (size_t)stride;
}

static void block_fill(int number, uint32_t filling)
{
    for (int i = 0; i < count; i++)
        block(number)[i * stride] = filling;
}

static void block_expect(int number, uint32_t filling, const char *claim)
{
    for (int i = 0; i < count; i++)
        check(block(number)[i * stride] == filling, claim);
}

static void fill(int round)
{
    for (int i = 0; i < blocks_sent; i++)
        block_fill(i, value(round, check_rank(), i));
    for (int i = 0; i < check_size(); i++)
        block_fill(blocks_sent + i, 0);
}

/* From each rank: what it has for this one, or for all. */
static void expect_all(int round)
{
    int number = blocks_sent == 1 ? 0 : check_rank();
    for (int i = 0; i < check_size(); i++)
        block_expect(blocks_sent + i, value(round, i, number), "a block has come from its rank");
}

static void list_blocks(int unit)
{
    for (int i = 0; i < check_size(); i++) {
        counts_sent[i] = counts_received[i] = count;
        places_sent[i] = i * count * unit;
        places_received[i] = (blocks_sent + i) * count * unit;
    }
}

static void alltoallv(int round)
{
    fill(round);
    MPI_Alltoallv(array, counts_sent, places_sent, element, array, counts_received, places_received, element,
                  MPI_COMM_WORLD);
    expect_all(round);
}

static void alltoallw(int round)
{
    MPI_Datatype sent[RANKS_MOST], received[RANKS_MOST];
    fill(round);
    list_blocks(stride * (int)sizeof *array); /* here they are in bytes */
    for (int i = 0; i < check_size(); i++)
        sent[i] = received[i] = element;
    MPI_Alltoallw(array, counts_sent, places_sent, sent, array, counts_received, places_received, received,
                  MPI_COMM_WORLD);
    expect_all(round);
}

static MPI_Datatype type_of_block(int number)
{
    MPI_Datatype type;
    MPI_Aint place;
    MPI_Get_address(block(number), &place);
    MPI_Type_create_hindexed(1, &count, &place, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The types tell where: both addresses are MPI_BOTTOM. */
static void bottom(int round)
{
    MPI_Datatype sent[RANKS_MOST], received[RANKS_MOST];
    fill(round);
    for (int i = 0; i < check_size(); i++) {
        counts_sent[i] = counts_received[i] = 1;
        places_sent[i] = places_received[i] = 0;
        sent[i] = type_of_block(i);
        received[i] = type_of_block(blocks_sent + i);
    }
    MPI_Alltoallw(MPI_BOTTOM, counts_sent, places_sent, sent, MPI_BOTTOM, counts_received, places_received, received,
                  MPI_COMM_WORLD);
    expect_all(round);
    for (int i = 0; i < check_size(); i++) {
        MPI_Type_free(&sent[i]);
        MPI_Type_free(&received[i]);
    }
}

static void allgatherv(int round)
{
    fill(round);
    MPI_Allgatherv(array, count, element, array, counts_received, places_received, element, MPI_COMM_WORLD);
    expect_all(round);
}

static void gatherv(int round)
{
    int root = round % check_size();
    fill(round);
    MPI_Gatherv(array, count, element, array, counts_received, places_received, element, root, MPI_COMM_WORLD);
    if (check_rank() == root)
        expect_all(round);
}

/* The root's blocks lie behind its own. */
static void scatterv(int round)
{
    int root = round % check_size();
    block_fill(0, 0);
    for (int i = 0; i < check_size(); i++)
        block_fill(blocks_sent + i, value(round, check_rank(), i));
    MPI_Scatterv(array, counts_received, places_received, element, array, count, element, root, MPI_COMM_WORLD);
    block_expect(0, value(round, root, check_rank()), "the root's block has come");
}

/* The sum of all ranks, where it has come; each still has its own. */
static void expect_sum(int round, bool has_come)
{
    uint32_t sum = 0;
    for (int i = 0; i < check_size(); i++)
        sum += value(round, i, 0);
    block_expect(0, value(round, check_rank(), 0), "what is reduced stays");
    if (has_come)
        block_expect(1, sum, "the sum has come");
}

/* Ranks beside the root receive nothing: their second address means nothing. */
static void reduce(int round)
{
    int root = round % check_size();
    bool is_root = check_rank() == root;
    fill(round);
    MPI_Reduce(array, is_root ? block(1) : array, count, MPI_UINT32_T, MPI_SUM, root, MPI_COMM_WORLD);
    expect_sum(round, is_root);
}

/* The last rank alone receives anything. One address on the others is an error to MPICH. */
static void reduce_scatter(int round)
{
#ifdef OPEN_MPI
    static const bool is_allowed = true;
#else
    static const bool is_allowed = false;
#endif
    bool is_last = check_rank() == check_size() - 1;
    fill(round);
    for (int i = 0; i < check_size(); i++)
        counts_received[i] = i == check_size() - 1 ? count : 0;
    MPI_Reduce_scatter(array, is_last || !is_allowed ? block(1) : array, counts_received, MPI_UINT32_T, MPI_SUM,
                       MPI_COMM_WORLD);
    expect_sum(round, is_last);
}

static const struct way {
    const char *name;
    void (*run)(int round);
    int count;
    bool has_one_block; /* to send */
    int stride_most;
} ways[] = {
    {"alltoallv", alltoallv, COUNT, false, 2},
    {"alltoallw", alltoallw, COUNT, false, 2},
    {"bottom", bottom, COUNT, false, 2},
    {"allgatherv", allgatherv, COUNT, true, 2},
    {"allgatherv_large", allgatherv, COUNT_LARGE, true, 1},
    {"gatherv", gatherv, COUNT, true, 2},
    {"scatterv", scatterv, COUNT, true, 2},
    {"reduce", reduce, COUNT, true, 1},
    {"reduce_scatter", reduce_scatter, COUNT, true, 1},
};

static void run(const struct way *way)
{
    MPI_Type_create_resized(MPI_UINT32_T, 0, stride * (MPI_Aint)sizeof *array, &element);
    MPI_Type_commit(&element);
    for (int round = 0; round < ROUNDS; round++) {
        list_blocks(1);
        way->run(round);
    }
    MPI_Type_free(&element);
}

int main(int argc, char **argv)
{
    const struct way *way = ways;
    check_start(&argc, &argv);
    while (strcmp(argv[1], way->name) != 0)
        way++;
    count = way->count;
    blocks_sent = way->has_one_block ? 1 : check_size();
    size_t numbers = (size_t)(blocks_sent + check_size()) * (size_t)count * (size_t)way->stride_most;
    array = (uint32_t *)check_buffer_new(numbers * sizeof *array);
    for (stride = 1; stride <= way->stride_most; stride++)
        run(way);
    return check_end();
}
