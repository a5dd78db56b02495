/* SPDX-License-Identifier: MIT */
/* What moves in the background of a computation, and what that costs.
 *
 *     progress --calibrate processor|memory
 *     progress processor|memory SECONDS OPERATION UNITS SIZE REPETITIONS [OPERATION UNITS SIZE REPETITIONS ...]
 *
 * isend       even ranks MPI_Isend to the next one, which has posted MPI_Irecv
 * exchange    both between the ranks of a pair
 * ialltoall   SIZE bytes to every rank
 * iallreduce  SIZE bytes of float, summed
 * ibcast      SIZE bytes from rank 0
 *     take turns within each repetition: the operation alone, the work alone, the work
 *     between start and wait. The slowest rank counts, for each time by itself.
 * latency     one way of SIZE bytes between ranks 0 and 1; others sleep
 * rate        messages of SIZE bytes per second, windows of nonblocking ones; others sleep
 * idle        all ranks sleep UNITS microseconds: the processor time of their other threads
 *
 * The work (processor: no memory; memory: through 32 MiB) is a fixed number of units, so that whoever takes the core
 * away shows. A point that takes longer than SECONDS is repeated less often. Rank 0 prints one line of JSON per group
 * of four. --calibrate needs no MPI launcher. */
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "asleep.h"
#include "measure.h"

enum { WARM_UP = 2, REPETITIONS_MIN = 3, TAG = 1, ROUND_TRIPS = 50, WINDOW = 64, WINDOWS = 10 };
enum { COMM, COMP, BOTH, START, WORK, WAIT, HELPERS_ALONE, HELPERS_BOTH, KINDS };
static const char *kind_names[KINDS] = {"comm_us", "comp_us", "both_us",         "start_us",
                                        "work_us", "wait_us", "comm_helpers_us", "both_helpers_us"};

struct job {
    int rank;
    int size;
    int partner; /* MPI_PROC_NULL for the odd one out */
    int length_bytes;
    char *out;
    char *in;
    MPI_Request requests[2];
    MPI_Comm communicators[2]; /* ALONE, BESIDE */
    double limit_us;           /* of a point */
};

/* The operation alone and the one beside work each have call sites of their own: a library that learns from call
 * sites must not mix those with slack and those without. Hence the inlining; and with a communicator of its own,
 * else the compiler would make one function of both. */
enum { ALONE, BESIDE };

static inline __attribute__((always_inline)) void start_isend(struct job *job, int which)
{
    MPI_Comm communicator = job->communicators[which];
    if (job->rank % 2 == 0)
        MPI_Isend(job->out, job->length_bytes, MPI_BYTE, job->partner, TAG, communicator, &job->requests[0]);
    else
        MPI_Irecv(job->in, job->length_bytes, MPI_BYTE, job->partner, TAG, communicator, &job->requests[0]);
}

static inline __attribute__((always_inline)) void start_exchange(struct job *job, int which)
{
    MPI_Comm communicator = job->communicators[which];
    MPI_Irecv(job->in, job->length_bytes, MPI_BYTE, job->partner, TAG, communicator, &job->requests[0]);
    MPI_Isend(job->out, job->length_bytes, MPI_BYTE, job->partner, TAG, communicator, &job->requests[1]);
}

static inline __attribute__((always_inline)) void start_ialltoall(struct job *job, int which)
{
    MPI_Ialltoall(job->out, job->length_bytes, MPI_BYTE, job->in, job->length_bytes, MPI_BYTE,
                  job->communicators[which], &job->requests[0]);
}

static inline __attribute__((always_inline)) void start_iallreduce(struct job *job, int which)
{
    int count = job->length_bytes / (int)sizeof(float);
    MPI_Iallreduce(job->out, job->in, count, MPI_FLOAT, MPI_SUM, job->communicators[which], &job->requests[0]);
}

static inline __attribute__((always_inline)) void start_ibcast(struct job *job, int which)
{
    MPI_Ibcast(job->out, job->length_bytes, MPI_BYTE, 0, job->communicators[which], &job->requests[0]);
}

static void start_isend_alone(struct job *job)
{
    start_isend(job, ALONE);
}

static void start_isend_beside(struct job *job)
{
    start_isend(job, BESIDE);
}

static void start_exchange_alone(struct job *job)
{
    start_exchange(job, ALONE);
}

static void start_exchange_beside(struct job *job)
{
    start_exchange(job, BESIDE);
}

static void start_ialltoall_alone(struct job *job)
{
    start_ialltoall(job, ALONE);
}

static void start_ialltoall_beside(struct job *job)
{
    start_ialltoall(job, BESIDE);
}

static void start_iallreduce_alone(struct job *job)
{
    start_iallreduce(job, ALONE);
}

static void start_iallreduce_beside(struct job *job)
{
    start_iallreduce(job, BESIDE);
}

static void start_ibcast_alone(struct job *job)
{
    start_ibcast(job, ALONE);
}

static void start_ibcast_beside(struct job *job)
{
    start_ibcast(job, BESIDE);
}

static const struct operation {
    const char *name;
    void (*start[2])(struct job *job); /* ALONE, BESIDE */
} operations[] = {
    {"isend", {start_isend_alone, start_isend_beside}},
    {"exchange", {start_exchange_alone, start_exchange_beside}},
    {"ialltoall", {start_ialltoall_alone, start_ialltoall_beside}},
    {"iallreduce", {start_iallreduce_alone, start_iallreduce_beside}},
    {"ibcast", {start_ibcast_alone, start_ibcast_beside}},
};

static void finish(struct job *job)
{
    MPI_Waitall(2, job->requests, MPI_STATUSES_IGNORE);
}

static void measure_alone(struct job *job, const struct operation *operation, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us(), helpers_us = measure_helpers_us();
    operation->start[ALONE](job);
    finish(job);
    times_us[COMM] = measure_now_us() - begin_us;
    times_us[HELPERS_ALONE] = measure_helpers_us() - helpers_us;
}

static void measure_work_alone(long units, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    measure_work(units);
    times_us[COMP] = measure_now_us() - begin_us;
}

static void measure_both(struct job *job, const struct operation *operation, long units, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us(), helpers_us = measure_helpers_us();
    operation->start[BESIDE](job);
    double started_us = measure_now_us();
    measure_work(units);
    double worked_us = measure_now_us();
    finish(job);
    double end_us = measure_now_us();
    times_us[BOTH] = end_us - begin_us;
    times_us[START] = started_us - begin_us;
    times_us[WORK] = worked_us - started_us;
    times_us[WAIT] = end_us - worked_us;
    times_us[HELPERS_BOTH] = measure_helpers_us() - helpers_us;
}

static void print_head(const char *name, long units, int length_bytes)
{
    printf("{\"operation\": \"%s\", \"units\": %ld, \"size_bytes\": %d", name, units, length_bytes);
}

static void print_times(const char *name, long units, int length_bytes, const double *times_us, int count)
{
    print_head(name, units, length_bytes);
    for (int kind = 0; kind < KINDS; kind++)
        measure_print_array(kind_names[kind], times_us + kind, count, KINDS);
    printf("}\n");
    fflush(stdout);
}

/* Rank 0 decides for all. A contender can be a hundred times slower than planned for. */
static bool is_time_up(struct job *job, double begin_us, int done, MPI_Comm communicator)
{
    int is_up = done >= REPETITIONS_MIN && measure_now_us() - begin_us > job->limit_us;
    MPI_Bcast(&is_up, 1, MPI_INT, 0, communicator);
    return is_up;
}

static void measure_operation(struct job *job, const struct operation *operation, long units, int repetitions)
{
    double(*own_us)[KINDS] = calloc((size_t)repetitions, sizeof(*own_us));
    double(*slowest_us)[KINDS] = calloc((size_t)repetitions, sizeof(*slowest_us));
    double begin_us = measure_now_us();
    int done = -WARM_UP;
    while (done < repetitions && !is_time_up(job, begin_us, done, MPI_COMM_WORLD)) {
        double *times_us = own_us[done < 0 ? 0 : done];
        measure_alone(job, operation, times_us);
        measure_work_alone(units, times_us);
        measure_both(job, operation, units, times_us);
        done++;
    }
    MPI_Reduce(own_us, slowest_us, done * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->rank == 0)
        print_times(operation->name, units, job->length_bytes, slowest_us[0], done);
    free(slowest_us);
    free(own_us);
}

static double time_round_trips(struct job *job)
{
    double begin_us = measure_now_us();
    for (int i = 0; i < ROUND_TRIPS; i++) {
        if (job->rank == 0)
            MPI_Send(job->out, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(job->in, job->length_bytes, MPI_BYTE, job->partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (job->rank == 1)
            MPI_Send(job->out, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    return (measure_now_us() - begin_us) / (2 * ROUND_TRIPS);
}

static void pass_window(struct job *job)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        if (job->rank == 0)
            MPI_Isend(job->out, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(job->in, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (job->rank == 0)
        MPI_Recv(job->in, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(job->out, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

static double count_messages_per_s(struct job *job)
{
    double begin_us = measure_now_us();
    for (int i = 0; i < WINDOWS; i++)
        pass_window(job);
    return WINDOWS * WINDOW * 1e6 / (measure_now_us() - begin_us);
}

static void measure_pair(struct job *job, const char *name, double (*once)(struct job *), int repetitions)
{
    double *values = calloc((size_t)repetitions, sizeof(double));
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, job->rank < 2, job->rank, &pair);
    double begin_us = measure_now_us();
    int done = -WARM_UP;
    while (job->rank < 2 && done < repetitions && !is_time_up(job, begin_us, done, pair)) {
        values[done < 0 ? 0 : done] = once(job);
        done++;
    }
    MPI_Comm_free(&pair);
    asleep_wait();
    if (job->rank == 0) {
        print_head(name, 0, job->length_bytes);
        measure_print_array(name, values, done, 1);
        printf("}\n");
        fflush(stdout);
    }
    free(values);
}

/* Nothing is pending: whoever uses the processor now does it all the time. */
static void measure_idle(struct job *job, long length_us, int repetitions)
{
    double *own = calloc((size_t)repetitions, sizeof(double)), *most = calloc((size_t)repetitions, sizeof(double));
    for (int i = 0; i < repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin_us = measure_now_us(), helpers_us = measure_helpers_us();
        measure_sleep((double)length_us);
        own[i] = (measure_helpers_us() - helpers_us) / (measure_now_us() - begin_us);
    }
    MPI_Reduce(own, most, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->rank == 0) {
        print_head("idle", length_us, 0);
        measure_print_array("idle", most, repetitions, 1);
        printf("}\n");
        fflush(stdout);
    }
    free(most);
    free(own);
}

static bool measure_named(struct job *job, const char *name, long units, int repetitions)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(operations[i].name, name) == 0) {
            measure_operation(job, &operations[i], units, repetitions);
            return true;
        }
    }
    return false;
}

static void measure_point(struct job *job, const char *name, long units, int repetitions)
{
    if (strcmp(name, "latency") == 0)
        measure_pair(job, name, time_round_trips, repetitions);
    else if (strcmp(name, "rate") == 0)
        measure_pair(job, name, count_messages_per_s, repetitions);
    else if (strcmp(name, "idle") == 0)
        measure_idle(job, units, repetitions);
    else if (!measure_named(job, name, units, repetitions))
        MPI_Abort(MPI_COMM_WORLD, 2);
}

static void run_point(struct job *job, char **words)
{
    job->length_bytes = atoi(words[2]);
    size_t length_bytes = (size_t)job->length_bytes * (size_t)job->size; /* enough for a block from each rank */
    job->out = measure_buffer(length_bytes, job->rank);
    job->in = measure_buffer(length_bytes, job->rank);
    job->requests[0] = job->requests[1] = MPI_REQUEST_NULL;
    measure_point(job, words[0], atol(words[1]), atoi(words[3]));
    free(job->in);
    free(job->out);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        measure_choose_work(strcmp(argv[1], "--calibrate") == 0 ? argv[2] : argv[1]);
    if (argc == 3 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    MPI_Init(&argc, &argv);
    struct job job;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    job.partner = (job.rank ^ 1) < job.size ? job.rank ^ 1 : MPI_PROC_NULL;
    if (job.size < 2 || argc < 7 || (argc - 3) % 4 != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    job.limit_us = atof(argv[2]) * 1e6;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &job.communicators[i]);
    for (int i = 3; i + 3 < argc; i += 4)
        run_point(&job, argv + i);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&job.communicators[i]);
    MPI_Finalize();
    return 0;
}
