/* SPDX-License-Identifier: MIT */
/* Claim: in a reduction between two groups each may name an operation, and a type, of its own.
 * ranks: 2 3
 * arguments: op type */
#include "check.h"

enum { COUNT = 60000, ROUNDS = 8, PAIR = 2 };

static struct {
    MPI_Comm local;
    MPI_Comm between;
    MPI_Op op;
    MPI_Datatype type;
    int per_element; /* numbers of one of that type */
} here;

static int *given;
static int *got;
static int counts[COUNT];

/* Of numbers, or of pairs of them. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int numbers = *count * (*type == MPI_INT ? 1 : PAIR);
    for (int i = 0; i < numbers; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static int side(void)
{
    return check_rank() % 2;
}

static int number_of(int rank, int round)
{
    return round * 100 + rank + 1;
}

/* The other group's numbers, added up. */
static void expect_sum(int count, int round, const char *claim)
{
    int sum = 0;
    for (int rank = 1 - side(); rank < check_size(); rank += 2)
        sum += number_of(rank, round);
    for (int i = 0; i < count; i++)
        check(got[i] == sum, claim);
    memset(got, 0, COUNT * sizeof *got);
}

static void play(int round)
{
    int size;
    MPI_Comm_size(here.local, &size);
    int own = COUNT / size;
    for (int i = 0; i < COUNT; i++)
        given[i] = number_of(check_rank(), round);
    for (int i = 0; i < size; i++)
        counts[i] = own / here.per_element;
    MPI_Allreduce(given, got, COUNT / here.per_element, here.type, here.op, here.between);
    expect_sum(COUNT, round, "MPI_Allreduce");
    MPI_Reduce_scatter(given, got, counts, here.type, here.op, here.between);
    expect_sum(own, round, "MPI_Reduce_scatter");
    MPI_Reduce_scatter_block(given, got, counts[0], here.type, here.op, here.between);
    expect_sum(own, round, "MPI_Reduce_scatter_block");
}

/* The first group's are its own: an operation, and pairs. */
static void choose(bool has_type)
{
    here.op = MPI_SUM;
    here.type = MPI_INT;
    here.per_element = 1;
    if (side() != 0)
        return;
    MPI_Op_create(add, 1, &here.op);
    if (!has_type)
        return;
    here.per_element = PAIR;
    MPI_Type_contiguous(PAIR, MPI_INT, &here.type);
    MPI_Type_commit(&here.type);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, side(), 0, &here.local);
    MPI_Intercomm_create(here.local, 0, MPI_COMM_WORLD, 1 - side(), 0, &here.between);
    given = (int *)check_buffer_new(COUNT * sizeof *given);
    got = (int *)check_buffer_new(COUNT * sizeof *got);
    choose(strcmp(argv[1], "type") == 0);
    for (int round = 0; round < ROUNDS; round++)
        play(round);
    return check_end();
}
