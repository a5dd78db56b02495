/* SPDX-License-Identifier: MIT */
/* The cost of calls that are passed: 8-byte messages to and from MPI_PROC_NULL. A
 * preload does not look at the peer of a small message, and MPI does the same each
 * time, so that instructions can be counted. Run by tools/measure_call.py.
 *
 *     calls [PAIRS [blocking | nonblocking | polling [multiple]]]
 *
 * Prints the nanoseconds that an MPI_Send and an MPI_Recv took; or an MPI_Irecv, an MPI_Isend and the MPI_Waitall for
 * both; or an MPI_Test and an MPI_Testany of messages that are not there. multiple: with MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void block(double *number)
{
    MPI_Send(number, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(number, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void begin_and_wait(double *numbers)
{
    MPI_Request requests[2];
    MPI_Irecv(&numbers[0], 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&numbers[1], 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static MPI_Request awaited[2];

static void begin_awaited(double *numbers)
{
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&numbers[i], 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &awaited[i]);
}

static void poll_awaited(double *unused)
{
    int index, is_over;
    MPI_Test(&awaited[0], &is_over, MPI_STATUS_IGNORE);
    MPI_Testany(2, awaited, &index, &is_over, MPI_STATUS_IGNORE);
}

static void end_awaited(void)
{
    double number = 1;
    for (int i = 0; i < 2; i++)
        MPI_Send(&number, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF);
    MPI_Waitall(2, awaited, MPI_STATUSES_IGNORE);
}

static void start(int is_multiple)
{
    int level = is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    MPI_Init_thread(NULL, NULL, level, &provided);
    if (provided < level) {
        fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? atol(argv[1]) : 100000;
    const char *kind = argc > 2 ? argv[2] : "blocking";
    int is_polling = strcmp(kind, "polling") == 0;
    void (*pair)(double *) = is_polling ? poll_awaited : strcmp(kind, "nonblocking") == 0 ? begin_and_wait : block;
    double numbers[2] = {1, 1};
    start(argc > 3 && strcmp(argv[3], "multiple") == 0);
    if (is_polling)
        begin_awaited(numbers);
    double begin_ns = now_ns();
    for (long i = 0; i < pairs; i++)
        pair(numbers);
    printf("%.3f\n", (now_ns() - begin_ns) / (double)pairs);
    if (is_polling)
        end_awaited();
    MPI_Finalize();
    return 0;
}
