/* SPDX-License-Identifier: MIT */
/* The times that LogGP parameters are made of, between two ranks.
 *
 *     loggp WHERE KINDS CAP_US REPETITIONS SIZE [SIZE ...]
 *
 * WHERE is `within` or `between` (pair.h). Of each size round trips of blocking messages come first, one after the
 * other. Then, up to 1 MiB: MPI_Isend and MPI_Irecv, each with its MPI_Wait after a time outside MPI in which an eager
 * message arrives; MPI_Send and MPI_Recv where the receiver comes that much later; and messages in a row, whose mean
 * distance is taken at both ends. Nobody sleeps: a processor that wakes is slow. A kind is repeated until CAP_US have
 * passed, at most REPETITIONS times. Two lines of JSON per size: the round trips, and the rest; KINDS is `all`, or
 * `round-trips` for those alone. With KINDS `exchanges` both ranks send at once instead: one line per size. Before the
 * sizes a line tells what reading the clock takes, which is in every time. */
#include "measure.h"
#include "pair.h"

enum {
    TAG = 1,
    READY_TAG = 2,
    WARM_UP = 2,
    WARM_UP_US = 10000,
    REPETITIONS_MIN = 5,
    LEAVE_MIN_US = 200,
    LEAVE_MAX_US = 100000
};
enum { CALLS_MAX_BYTES = 1 << 20, ROW_MAX = 16, ROW_MIN = 2, ROW_BYTES = 1 << 20 };
enum { ISEND, ISEND_WAIT, IRECV, IRECV_WAIT, SEND, RECV, GAP_SEND, GAP_RECEIVE, KINDS };
static const char *kind_names[KINDS] = {"isend_us", "isend_wait_us", "irecv_us",    "irecv_wait_us",
                                        "send_us",  "recv_us",       "gap_send_us", "gap_receive_us"};
static const char *round_trip_name[1] = {"round_trip_us"};
static const char *exchange_name[1] = {"exchange_us"};

struct message {
    MPI_Comm communicator;
    char *buffer;
    char *received; /* the peer's message, where both send at once */
    int length_bytes;
    int is_sender;
    int row_count;
    double leave_us;
};

static void send(struct message *message, int tag)
{
    int length_bytes = tag == TAG ? message->length_bytes : 0;
    MPI_Send(message->buffer, length_bytes, MPI_BYTE, message->is_sender, tag, message->communicator);
}

static void receive(struct message *message, int tag)
{
    int length_bytes = tag == TAG ? message->length_bytes : 0;
    MPI_Recv(message->buffer, length_bytes, MPI_BYTE, message->is_sender, tag, message->communicator,
             MPI_STATUS_IGNORE);
}

static void leave(double length_us)
{
    double end_us = measure_now_us() + length_us;
    while (measure_now_us() < end_us)
        ;
}

static void time_round_trip(struct message *message, double *times_us)
{
    double begin_us = measure_now_us();
    if (message->is_sender) {
        send(message, TAG);
        receive(message, TAG);
    } else {
        receive(message, TAG);
        send(message, TAG);
    }
    if (message->is_sender)
        times_us[0] = measure_now_us() - begin_us;
}

/* Nothing lets both ranks begin together: messages take turns, or do not, as those of programs in a loop. */
static void time_exchange(struct message *message, double *times_us)
{
    double begin_us = measure_now_us();
    MPI_Sendrecv(message->buffer, message->length_bytes, MPI_BYTE, message->is_sender, TAG, message->received,
                 message->length_bytes, MPI_BYTE, message->is_sender, TAG, message->communicator, MPI_STATUS_IGNORE);
    times_us[0] = measure_now_us() - begin_us;
}

static void time_wait(struct message *message, MPI_Request *request, double *wait_us)
{
    leave(message->leave_us);
    double begin_us = measure_now_us();
    MPI_Wait(request, MPI_STATUS_IGNORE);
    *wait_us = measure_now_us() - begin_us;
}

static void time_isend(struct message *message, double *times_us)
{
    MPI_Request request;
    receive(message, READY_TAG);
    double begin_us = measure_now_us();
    MPI_Isend(message->buffer, message->length_bytes, MPI_BYTE, 1, TAG, message->communicator, &request);
    times_us[ISEND] = measure_now_us() - begin_us;
    time_wait(message, &request, &times_us[ISEND_WAIT]);
}

static void time_irecv(struct message *message, double *times_us)
{
    MPI_Request request;
    double begin_us = measure_now_us();
    MPI_Irecv(message->buffer, message->length_bytes, MPI_BYTE, 0, TAG, message->communicator, &request);
    times_us[IRECV] = measure_now_us() - begin_us;
    send(message, READY_TAG);
    time_wait(message, &request, &times_us[IRECV_WAIT]);
}

static void time_send(struct message *message, double *times_us)
{
    receive(message, READY_TAG);
    double begin_us = measure_now_us();
    send(message, TAG);
    times_us[SEND] = measure_now_us() - begin_us;
}

static void time_recv(struct message *message, double *times_us)
{
    send(message, READY_TAG);
    leave(message->leave_us);
    double begin_us = measure_now_us();
    receive(message, TAG);
    times_us[RECV] = measure_now_us() - begin_us;
}

static void time_row_sent(struct message *message, double *times_us)
{
    receive(message, READY_TAG);
    double begin_us = measure_now_us();
    for (int i = 0; i < message->row_count; i++)
        send(message, TAG);
    times_us[GAP_SEND] = (measure_now_us() - begin_us) / message->row_count;
}

static void time_row_received(struct message *message, double *times_us)
{
    send(message, READY_TAG);
    receive(message, TAG);
    double begin_us = measure_now_us();
    for (int i = 1; i < message->row_count; i++)
        receive(message, TAG);
    times_us[GAP_RECEIVE] = (measure_now_us() - begin_us) / (message->row_count - 1);
}

static void time_calls(struct message *message, double *times_us)
{
    (message->is_sender ? time_isend : time_irecv)(message, times_us);
    (message->is_sender ? time_send : time_recv)(message, times_us);
    (message->is_sender ? time_row_sent : time_row_received)(message, times_us);
}

typedef void experiment(struct message *message, double *times_us);

/* Both ranks repeat equally often: rank 0 decides, from how long the last of those took that warm up. They warm up
 * for some time, too: processors, caches and connections do. */
static int choose_repetitions(struct message *message, experiment *experiment, double *times_us, double cap_us,
                              int limit)
{
    double once_us = 0, first_us = measure_now_us();
    for (int i = 0, goes_on = 1; goes_on; i++) {
        double begin_us = measure_now_us();
        experiment(message, times_us);
        once_us = measure_now_us() - begin_us;
        goes_on = i + 1 < WARM_UP || begin_us - first_us < WARM_UP_US;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, message->communicator);
    }
    double wanted = cap_us / once_us;
    int count = wanted > limit ? limit : wanted < REPETITIONS_MIN ? REPETITIONS_MIN : (int)wanted;
    MPI_Bcast(&count, 1, MPI_INT, 0, message->communicator);
    return count;
}

/* A kind is timed on one rank only, and is 0 on the other: the larger one is the time. */
static void repeat(struct message *message, experiment *experiment, const char *const *names, int kinds, double cap_us,
                   int limit)
{
    double *own_us = calloc((size_t)(limit * kinds), sizeof(double));
    double *both_us = calloc((size_t)(limit * kinds), sizeof(double));
    int count = choose_repetitions(message, experiment, own_us, cap_us, limit);
    for (int i = 0; i < count; i++)
        experiment(message, own_us + i * kinds);
    MPI_Reduce(own_us, both_us, count * kinds, MPI_DOUBLE, MPI_MAX, 0, message->communicator);
    if (message->is_sender)
        measure_print_kinds(message->length_bytes, names, kinds, both_us, count);
    message->leave_us = kinds == 1 ? both_us[count - 1] : message->leave_us;
    free(both_us);
    free(own_us);
}

static void measure_calls(struct message *message, double cap_us, int limit)
{
    int fitting = ROW_BYTES / message->length_bytes;
    message->row_count = fitting > ROW_MAX ? ROW_MAX : fitting < ROW_MIN ? ROW_MIN : fitting;
    MPI_Bcast(&message->leave_us, 1, MPI_DOUBLE, 0, message->communicator);
    message->leave_us = message->leave_us < LEAVE_MIN_US ? LEAVE_MIN_US : message->leave_us;
    message->leave_us = message->leave_us > LEAVE_MAX_US ? LEAVE_MAX_US : message->leave_us;
    repeat(message, time_calls, kind_names, KINDS, cap_us, limit);
}

static double measure_clock_cost_us(void)
{
    const int count = 1000;
    double begin_us = measure_now_us();
    for (int i = 0; i < count; i++)
        measure_now_us();
    return (measure_now_us() - begin_us) / count;
}

static void measure(struct pair *pair, int argc, char **argv)
{
    bool with_calls = strcmp(argv[2], "all") == 0, is_exchange = strcmp(argv[2], "exchanges") == 0;
    double cap_us = atof(argv[3]);
    int limit = atoi(argv[4]) < REPETITIONS_MIN ? REPETITIONS_MIN : atoi(argv[4]);
    if (pair->side == PAIR_SENDER)
        printf("{\"clock_us\": %.4f}\n", measure_clock_cost_us());
    for (int i = 5; i < argc; i++) {
        struct message message = {.communicator = pair->communicator, .is_sender = pair->side == PAIR_SENDER};
        message.length_bytes = atoi(argv[i]) < 1 ? 1 : atoi(argv[i]);
        message.buffer = measure_buffer((size_t)message.length_bytes, pair->side);
        message.received = measure_buffer((size_t)message.length_bytes, pair->side);
        repeat(&message, is_exchange ? time_exchange : time_round_trip, is_exchange ? exchange_name : round_trip_name,
               1, cap_us, limit);
        if (with_calls && message.length_bytes <= CALLS_MAX_BYTES)
            measure_calls(&message, cap_us, limit);
        free(message.received);
        free(message.buffer);
    }
}

int main(int argc, char **argv)
{
    return pair_run(argc, argv, 6, measure);
}
