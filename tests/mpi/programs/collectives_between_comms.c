/* SPDX-License-Identifier: MIT */
/* Claim: communicators may be freed, made anew and used in turn while their collectives are under way; a small blocking
 * collective behind a large one that has returned early does not wait for ever; and attributes of the program's own are
 * copied and deleted as often as without Lapwing.
 * defers: collective
 * ranks: 3 */
#include "check.h"

enum { COUNT = 150000, ROUNDS = 6 };

static int copied;
static int deleted;

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static int *numbers[2];

static void fill(int *buffer, int value)
{
    for (int i = 0; i < COUNT; i++)
        buffer[i] = value;
}

static void round_run(MPI_Comm world, int round)
{
    MPI_Comm half;
    int rank;
    int small = 1;
    int sum = 0;
    MPI_Comm_split(world, check_rank() == 0, 0, &half);
    MPI_Comm_rank(half, &rank);
    fill(numbers[0], check_rank() == 0 ? round : -1);
    fill(numbers[1], rank == 0 ? round + check_rank() : -1);
    MPI_Bcast(numbers[0], COUNT, MPI_INT, 0, world);
    MPI_Bcast(numbers[1], COUNT, MPI_INT, 0, half);
    MPI_Allreduce(&small, &sum, 1, MPI_INT, MPI_SUM, world);
    check(sum == check_size(), "a small collective behind the large ones");
    MPI_Comm_free(&half);
    check(numbers[0][COUNT - 1] == round && numbers[0][0] == round, "on the first communicator");
    check(numbers[1][COUNT - 1] == round + (check_rank() != 0), "on the one that was freed");
}

int main(int argc, char **argv)
{
    MPI_Comm world;
    int keyval;
    check_start(&argc, &argv);
    for (int i = 0; i < 2; i++)
        numbers[i] = (int *)check_buffer_new(COUNT * sizeof **numbers);
    MPI_Comm_create_keyval(count_copy, count_delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, numbers);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &world);
        round_run(world, round);
        MPI_Comm_free(&world);
    }
    check(copied == ROUNDS && deleted == ROUNDS, "the program's own attributes");
    return check_end();
}
