/* SPDX-License-Identifier: MIT */
/* Claim: a reduction that goes on in the background rounds as its caller did when it began, although the engine began
 * with another mode: a blocking one, a nonblocking one, one to a root, and one before another that rounds otherwise.
 * arguments: allreduce iallreduce reduce pair small
 * flags: -lm
 * quick: openmpi4 mpich4 userfaultfd
 * ranks: 2
 */
#include <fenv.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { COUNT = 1 << 17, ROUNDS = 24, WARM_UP = 8, AWAY_US = 3000 };

static const double little = 1e-20; /* 1 + little is 1, or the next number above it */
static double *given;
static double *sums;
static double *others;

/* Before the one in `sums` is over, another is rounded to nearest, be it a large one or a small one. */
static void follow(const char *how)
{
    int count = strcmp(how, "pair") == 0 ? COUNT : strcmp(how, "small") == 0 ? 1 : 0;
    fesetround(FE_TONEAREST);
    if (count != 0)
        MPI_Allreduce(given, others, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        check(others[i] == 1, "rounded to nearest");
}

static void reduce(const char *how)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int is_nonblocking = strcmp(how, "iallreduce") == 0;
    if (!is_nonblocking && strcmp(how, "reduce") != 0)
        MPI_Allreduce(given, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!is_nonblocking)
        MPI_Reduce(given, sums, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Iallreduce(given, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (strcmp(how, "pair") != 0 && strcmp(how, "small") != 0)
        usleep(AWAY_US);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void expect(int is_upward)
{
    for (int i = 0; i < COUNT; i++)
        check((sums[i] > 1) == is_upward, "rounded as the caller does");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    given = (double *)check_buffer_new(COUNT * sizeof *given);
    sums = (double *)check_buffer_new(COUNT * sizeof *sums);
    others = (double *)check_buffer_new(COUNT * sizeof *others);
    for (int i = 0; i < COUNT; i++)
        given[i] = check_rank() == 0 ? 1 : little;
    for (int round = 0; round < ROUNDS; round++) {
        int is_upward = round >= WARM_UP && round % 4 != 0;
        fesetround(is_upward ? FE_UPWARD : FE_TONEAREST);
        reduce(argv[1]);
        follow(argv[1]);
        if (check_rank() == 0 || strcmp(argv[1], "reduce") != 0)
            expect(is_upward);
    }
    return check_end();
}
