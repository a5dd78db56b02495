/* SPDX-License-Identifier: MIT */
/* The cost of calls that are passed: 8-byte messages to and from MPI_PROC_NULL, and collectives of 8 bytes on
 * MPI_COMM_SELF. A preload does not look at the peer of a small message, and MPI does the same each time, so that
 * instructions can be counted. Run by tools/measure_call.py.
 *
 *     calls [ROUNDS [blocking | exchange | nonblocking | polling | collective [multiple]]]
 *
 * Prints the nanoseconds that an MPI_Send and an MPI_Recv took; or an MPI_Sendrecv; or an MPI_Irecv, an MPI_Isend and
 * the MPI_Waitall for both; or an MPI_Test and an MPI_Testany of messages that are not there; or an MPI_Bcast, an
 * MPI_Allreduce, an MPI_Allgatherv and an MPI_Barrier. multiple: with MPI_THREAD_MULTIPLE. */
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

static void exchange(double *numbers)
{
    MPI_Sendrecv(&numbers[0], 1, MPI_DOUBLE, MPI_PROC_NULL, 1, &numbers[1], 1, MPI_DOUBLE, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

static void collect(double *numbers)
{
    int count = 1, place = 0;
    MPI_Bcast(numbers, 1, MPI_DOUBLE, 0, MPI_COMM_SELF);
    MPI_Allreduce(&numbers[0], &numbers[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allgatherv(&numbers[0], 1, MPI_DOUBLE, &numbers[1], &count, &place, MPI_DOUBLE, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
}

static const struct kind {
    const char *name;
    void (*begin)(double *numbers);
    void (*round)(double *numbers);
    void (*end)(void);
} kinds[] = {{"blocking", NULL, block, NULL},
             {"exchange", NULL, exchange, NULL},
             {"nonblocking", NULL, begin_and_wait, NULL},
             {"polling", begin_awaited, poll_awaited, end_awaited},
             {"collective", NULL, collect, NULL}};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "there is no %s\n", name);
    exit(2);
}

/* Valgrind counts in this function alone. */
__attribute__((noinline)) void run_rounds(const struct kind *kind, long rounds, double *numbers)
{
    for (long i = 0; i < rounds; i++)
        kind->round(numbers);
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
    long rounds = argc > 1 ? atol(argv[1]) : 100000;
    const struct kind *kind = find_kind(argc > 2 ? argv[2] : "blocking");
    double numbers[2] = {1, 1};
    start(argc > 3 && strcmp(argv[3], "multiple") == 0);
    if (kind->begin != NULL)
        kind->begin(numbers);
    double begin_ns = now_ns();
    run_rounds(kind, rounds, numbers);
    printf("%.3f\n", (now_ns() - begin_ns) / (double)rounds);
    if (kind->end != NULL)
        kind->end();
    MPI_Finalize();
    return 0;
}
