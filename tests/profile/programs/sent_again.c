/* SPDX-License-Identifier: MIT */
/* Claim: a call that sends a buffer again does not write it. Both sends of a step have the slack up to the line that
 * writes, and what nobody writes has no touch. Prints the least work of a step.
 * ranks: 2
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 20, STEPS = 12 };

/* Work that touches nothing; returns how long it took. */
static double work(double limit_s)
{
    double begin_s = MPI_Wtime();
    while (MPI_Wtime() - begin_s < limit_s)
        continue;
    return MPI_Wtime() - begin_s;
}

static char *buffer_new(void)
{
    char *buffer = aligned_alloc(4096, COUNT);
    memset(buffer, 1, COUNT);
    return buffer;
}

static double step_sending(char *written, const char *kept)
{
    MPI_Send(written, COUNT, MPI_CHAR, 1, 1, MPI_COMM_WORLD); /* AGAIN written */
    MPI_Send(written, COUNT, MPI_CHAR, 1, 2, MPI_COMM_WORLD); /* AGAIN written */
    MPI_Send(kept, COUNT, MPI_CHAR, 1, 3, MPI_COMM_WORLD);    /* AGAIN kept */
    double worked_s = work(0.005);
    written[COUNT / 2]++; /* WRITE */
    return worked_s;
}

static void step_receiving(char *buffer)
{
    for (int tag = 1; tag <= 3; tag++)
        MPI_Recv(buffer, COUNT, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    double least_s = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *written = buffer_new();
    char *kept = buffer_new();
    for (int i = 0; i < STEPS; i++) {
        double worked_s = rank == 0 ? step_sending(written, kept) : 1;
        if (rank != 0)
            step_receiving(written);
        least_s = worked_s < least_s ? worked_s : least_s;
    }
    if (rank == 0)
        printf("%.0f\n", 1e9 * least_s);
    MPI_Finalize();
    return 0;
}
