/* SPDX-License-Identifier: MIT */
/* Windows of nonblocking messages of 8 bytes one way; prints the time of a message: rate [STEPS]. */
#include <mpi.h>
#include <stdlib.h>

#include "report_ranks.h"

enum { WINDOW = 64, TAG = 1 };

static void send_window(double *values)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(&values[i], 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(double *values)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&values[i], 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long steps = argc > 1 ? atol(argv[1]) : 50000;
    int rank;
    double values[WINDOW] = {0}, begin_s = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = -steps / 10; i < steps; i++) { /* a tenth warms up */
        begin_s = i == 0 ? MPI_Wtime() : begin_s;
        (rank == 0 ? send_window : receive_window)(values);
    }
    report_ranks((MPI_Wtime() - begin_s) * 1e6 / (double)steps / WINDOW);
    MPI_Finalize();
    return 0;
}
