/* SPDX-License-Identifier: MIT */
/* Claim: OpenMP regions that read, write and reduce over messages under way, next to
 * master-only MPI calls inside a region, compute what they compute alone.
 * flags: -fopenmp
 * defers: send receive
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { COUNT = 1 << 18, ROUNDS = 8 };

static double *in, *out;

static double sum_of(const double *numbers)
{
    double sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int i = 0; i < COUNT; i++)
        sum += numbers[i];
    return sum;
}

static void fill(double *numbers, int value)
{
#pragma omp parallel for num_threads(4) schedule(static, 1000)
    for (int i = 0; i < COUNT; i++)
        numbers[i] = value;
}

/* The master communicates while the others already ask for the data. */
static void exchange_in_region(int peer, int value)
{
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
#pragma omp master
        MPI_Sendrecv(out, COUNT, MPI_DOUBLE, peer, 0, in, COUNT, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < COUNT; i++)
            wrong += in[i] != value;
    }
    check(wrong == 0, "every element, in the region of the call");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int rank = check_rank(), peer = 1 - rank;
    in = calloc(COUNT, sizeof *in);
    out = calloc(COUNT, sizeof *out);
    for (int round = 0; round < ROUNDS; round++) {
        fill(out, 10 * round + rank);
        exchange_in_region(peer, 10 * round + peer);
        fill(out, 10 * round + rank + 2);
        if (rank == 0)
            MPI_Send(out, COUNT, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(in, COUNT, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            check(sum_of(in) == (double)COUNT * (10 * round + 2), "the sum over a message");
    }
    return check_end();
}
