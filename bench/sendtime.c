/* SPDX-License-Identifier: MIT */
/* Where the time of a message is spent: the tables of "Overlapping Communication and
 * Computation in MPI by Multithreading" (Mao, Song, Wu, Yang, 2006).
 *
 *     sendtime --calibrate
 *     sendtime UNITS SIZE REPETITIONS [SIZE REPETITIONS ...]
 *
 * UNITS is work that takes longer than the message. Per repetition, between ranks 0 and 1:
 * MPI_Send to a receiver that waits, and to one that works first; MPI_Isend, work,
 * MPI_Wait; MPI_Isend and MPI_Wait at once to a receiver that works first, then twice the work; the same with a
 * persistent send; MPI_Recv of a message that is on its way while the receiver works, and of one that starts now;
 * MPI_Irecv, work, MPI_Wait; MPI_Irecv and MPI_Wait at once from a sender that works first, then twice the work. After
 * a blocking call the buffer is touched at once (after a wait at once: after the work), and that is timed by itself: a
 * library that returns early makes it wait there. Rank 0 prints one line of JSON per size. --calibrate needs no MPI
 * launcher.
 */
#include <mpi.h>
#include <string.h>

#include "measure.h"

enum { WARM_UP = 2, TAG = 1 };
enum {
    SEND,
    SEND_TOUCH,
    SEND_LATE,
    SEND_LATE_TOUCH,
    ISEND,
    ISEND_WAIT,
    ISEND_LATE,
    ISEND_LATE_TOUCH,
    START_LATE,
    START_LATE_TOUCH,
    RECV_ARRIVED,
    RECV_ARRIVED_TOUCH,
    RECV,
    RECV_TOUCH,
    IRECV,
    IRECV_WAIT,
    IRECV_LATE,
    IRECV_LATE_TOUCH,
    KINDS
};
static const char *kind_names[KINDS] = {
    "send_us",       "send_touch_us",       "send_late_us",    "send_late_touch_us",
    "isend_us",      "isend_wait_us",       "isend_late_us",   "isend_late_touch_us",
    "start_late_us", "start_late_touch_us", "recv_arrived_us", "recv_arrived_touch_us",
    "recv_us",       "recv_touch_us",       "irecv_us",        "irecv_wait_us",
    "irecv_late_us", "irecv_late_touch_us"};

struct job {
    int rank;
    int length_bytes;
    long units;
    char *buffer;
};

static volatile char byte_read;

/* Each experiment has call sites of its own: a library that learns from call sites must not mix them. */

static void time_send(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 1) {
        MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        byte_read = job->buffer[job->length_bytes / 2];
        return;
    }
    double begin_us = measure_now_us();
    MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    double sent_us = measure_now_us();
    job->buffer[job->length_bytes / 2]++;
    times_us[SEND] = sent_us - begin_us;
    times_us[SEND_TOUCH] = measure_now_us() - sent_us;
}

/* The receiver works before it asks for the message. */
static void receive_late(struct job *job)
{
    measure_work(job->units);
    MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    byte_read = job->buffer[job->length_bytes / 2];
}

static void time_send_late(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 1) {
        receive_late(job);
        return;
    }
    double begin_us = measure_now_us();
    MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    double sent_us = measure_now_us();
    job->buffer[job->length_bytes / 2]++;
    times_us[SEND_LATE] = sent_us - begin_us;
    times_us[SEND_LATE_TOUCH] = measure_now_us() - sent_us;
}

static void time_isend(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 1) {
        MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        byte_read = job->buffer[job->length_bytes / 2];
        return;
    }
    MPI_Request request;
    double begin_us = measure_now_us();
    MPI_Isend(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    times_us[ISEND] = measure_now_us() - begin_us;
    measure_work(job->units);
    begin_us = measure_now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    times_us[ISEND_WAIT] = measure_now_us() - begin_us;
}

/* As programs do that compute with another buffer meanwhile: the message is there when this one is written again. */
static void time_isend_late(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 1) {
        receive_late(job);
        return;
    }
    MPI_Request request;
    double begin_us = measure_now_us();
    MPI_Isend(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    times_us[ISEND_LATE] = measure_now_us() - begin_us;
    measure_work(2 * job->units);
    begin_us = measure_now_us();
    job->buffer[job->length_bytes / 2]++;
    times_us[ISEND_LATE_TOUCH] = measure_now_us() - begin_us;
}

static void time_start_late(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 1) {
        receive_late(job);
        return;
    }
    MPI_Request request;
    MPI_Send_init(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    double begin_us = measure_now_us();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    times_us[START_LATE] = measure_now_us() - begin_us;
    measure_work(2 * job->units);
    begin_us = measure_now_us();
    job->buffer[job->length_bytes / 2]++;
    times_us[START_LATE_TOUCH] = measure_now_us() - begin_us;
    MPI_Request_free(&request);
}

static void time_recv_arrived(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0) {
        MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        job->buffer[job->length_bytes / 2]++;
        return;
    }
    measure_work(job->units);
    double begin_us = measure_now_us();
    MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double received_us = measure_now_us();
    byte_read = job->buffer[job->length_bytes / 2];
    times_us[RECV_ARRIVED] = received_us - begin_us;
    times_us[RECV_ARRIVED_TOUCH] = measure_now_us() - received_us;
}

static void time_recv(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0) {
        MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        job->buffer[job->length_bytes / 2]++;
        return;
    }
    double begin_us = measure_now_us();
    MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double received_us = measure_now_us();
    byte_read = job->buffer[job->length_bytes / 2];
    times_us[RECV] = received_us - begin_us;
    times_us[RECV_TOUCH] = measure_now_us() - received_us;
}

static void time_irecv(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0) {
        MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        job->buffer[job->length_bytes / 2]++;
        return;
    }
    MPI_Request request;
    double begin_us = measure_now_us();
    MPI_Irecv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    times_us[IRECV] = measure_now_us() - begin_us;
    measure_work(job->units);
    begin_us = measure_now_us();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    times_us[IRECV_WAIT] = measure_now_us() - begin_us;
}

/* As programs do that compute with other data meanwhile. */
static void time_irecv_late(struct job *job, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0) {
        measure_work(job->units);
        MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        job->buffer[job->length_bytes / 2]++;
        return;
    }
    MPI_Request request;
    double begin_us = measure_now_us();
    MPI_Irecv(job->buffer, job->length_bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    times_us[IRECV_LATE] = measure_now_us() - begin_us;
    measure_work(2 * job->units);
    begin_us = measure_now_us();
    byte_read = job->buffer[job->length_bytes / 2];
    times_us[IRECV_LATE_TOUCH] = measure_now_us() - begin_us;
}

static void (*const experiments[])(struct job *job, double *times_us) = {
    time_send, time_send_late,    time_isend, time_isend_late, time_start_late,
    time_recv, time_recv_arrived, time_irecv, time_irecv_late};
enum { EXPERIMENTS = sizeof(experiments) / sizeof(experiments[0]) };

/* A kind is timed on one rank only, and is 0 on the other: the larger one is the time. */
static void measure_size(struct job *job, int length_bytes, int repetitions)
{
    double(*own_us)[KINDS] = calloc((size_t)repetitions, sizeof(*own_us));
    double(*both_us)[KINDS] = calloc((size_t)repetitions, sizeof(*both_us));
    job->length_bytes = length_bytes;
    job->buffer = measure_buffer((size_t)length_bytes, job->rank);
    for (int i = -WARM_UP; i < repetitions; i++) {
        for (int j = 0; j < EXPERIMENTS; j++)
            experiments[j](job, own_us[i < 0 ? 0 : i]);
    }
    MPI_Reduce(own_us, both_us, repetitions * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->rank == 0)
        measure_print_kinds(length_bytes, kind_names, KINDS, both_us[0], repetitions);
    free(job->buffer);
    free(both_us);
    free(own_us);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    MPI_Init(&argc, &argv);
    struct job job = {0};
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 4 || argc % 2 != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    job.units = atol(argv[1]);
    for (int i = 2; i + 1 < argc; i += 2)
        measure_size(&job, atoi(argv[i]), atoi(argv[i + 1]));
    MPI_Finalize();
    return 0;
}
