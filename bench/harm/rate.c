/* SPDX-License-Identifier: MIT */
/* Windows of nonblocking messages of 8 bytes one way; prints the time of a message: rate [STEPS [LARGE_BYTES]]. Before
 * them go some messages of LARGE_BYTES. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "report_ranks.h"

enum { WINDOW = 64, TAG = 1, LARGE_ROUNDS = 20, LATE_US = 2000, BESIDE_BYTES = 1000 };

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

/* The sender waits for its message at once, the receiver comes later. Both buffers lie among other data. */
static void send_large(char *buffer, int length_bytes, int is_sender)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_sender) {
        MPI_Isend(buffer, length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        usleep(LATE_US);
        MPI_Recv(buffer, length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    usleep(2 * LATE_US);
}

static void send_all_large(int length_bytes, int is_sender)
{
    char *block = calloc(1, (size_t)length_bytes + 2 * BESIDE_BYTES);
    for (int i = 0; i < LARGE_ROUNDS; i++)
        send_large(block + BESIDE_BYTES, length_bytes, is_sender);
    free(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long steps = argc > 1 ? atol(argv[1]) : 50000;
    int rank;
    double values[WINDOW] = {0}, begin_s = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2)
        send_all_large(atoi(argv[2]), rank == 0);
    for (long i = -steps / 10; i < steps; i++) { /* a tenth warms up */
        begin_s = i == 0 ? MPI_Wtime() : begin_s;
        (rank == 0 ? send_window : receive_window)(values);
    }
    report_ranks((MPI_Wtime() - begin_s) * 1e6 / (double)steps / WINDOW);
    MPI_Finalize();
    return 0;
}
