/* SPDX-License-Identifier: MIT */
/* Claim: nonblocking operations of every kind that go on while the program
 * computes end as they should, by whatever call they are completed.
 * assists: any */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, BOTH = 2, INTS = LENGTH / (int)sizeof(int) };

static unsigned char *sent;
static unsigned char *received;

static int peer(void)
{
    return check_rank() ^ 1;
}

static void exchange_begin(MPI_Request requests[BOTH], unsigned seed)
{
    check_fill(sent, LENGTH, seed + (unsigned)check_rank());
    memset(received, 0, LENGTH);
    MPI_Irecv(received, LENGTH, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LENGTH, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &requests[1]);
}

static void exchange_check(unsigned seed)
{
    check(check_is_filled(received, LENGTH, seed + (unsigned)peer()), "the peer's message");
}

static void complete_by_wait(MPI_Request requests[BOTH])
{
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void complete_by_waitall(MPI_Request requests[BOTH])
{
    MPI_Waitall(BOTH, requests, MPI_STATUSES_IGNORE);
}

static void complete_by_waitany(MPI_Request requests[BOTH])
{
    int index;
    for (int i = 0; i < BOTH; i++)
        MPI_Waitany(BOTH, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(BOTH, requests, &index, MPI_STATUS_IGNORE);
    check(index == MPI_UNDEFINED, "nothing is active any more");
}

static void complete_by_testany(MPI_Request requests[BOTH])
{
    int index;
    for (int ended = 0; ended < BOTH;) {
        int flag;
        MPI_Testany(BOTH, requests, &index, &flag, MPI_STATUS_IGNORE);
        ended += flag && index != MPI_UNDEFINED;
    }
}

static void complete_by_testsome(MPI_Request requests[BOTH])
{
    int indices[BOTH];
    for (int ended = 0; ended < BOTH;) {
        int count;
        MPI_Testsome(BOTH, requests, &count, indices, MPI_STATUSES_IGNORE);
        ended += count;
    }
}

static void complete_by_testall(MPI_Request requests[BOTH])
{
    for (int flag = 0; !flag;)
        MPI_Testall(BOTH, requests, &flag, MPI_STATUSES_IGNORE);
}

typedef void complete_fn(MPI_Request requests[BOTH]);
static complete_fn *const completions[] = {complete_by_wait,    complete_by_waitall,  complete_by_waitany,
                                           complete_by_testany, complete_by_testsome, complete_by_testall};
enum { COMPLETIONS = sizeof completions / sizeof completions[0] };

static void messages(void)
{
    MPI_Request requests[BOTH];
    for (unsigned i = 0; i < COMPLETIONS; i++) {
        exchange_begin(requests, i);
        check_delay();
        completions[i](requests);
        exchange_check(i);
    }
}

static void persistent_messages(void)
{
    MPI_Request requests[BOTH];
    MPI_Recv_init(received, LENGTH, MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(sent, LENGTH, MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &requests[1]);
    for (unsigned i = 0; i < COMPLETIONS; i++) {
        check_fill(sent, LENGTH, i + (unsigned)check_rank());
        if (i % 2 == 0)
            MPI_Startall(BOTH, requests);
        for (int j = 0; j < BOTH && i % 2 != 0; j++)
            MPI_Start(&requests[j]);
        check_delay();
        completions[i](requests);
        exchange_check(i);
    }
    for (int i = 0; i < BOTH; i++)
        MPI_Request_free(&requests[i]);
}

static void add_up(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void reduce_while_receiving(MPI_Op op)
{
    MPI_Request requests[BOTH + 1];
    int *parts = calloc(INTS, sizeof *parts);
    int *sum = calloc(INTS, sizeof *sum);
    for (int i = 0; i < INTS; i++)
        parts[i] = i + check_rank();
    exchange_begin(requests, 77);
    MPI_Iallreduce(parts, sum, INTS, MPI_INT, op, MPI_COMM_WORLD, &requests[BOTH]);
    check_delay();
    MPI_Waitall(BOTH + 1, requests, MPI_STATUSES_IGNORE);
    exchange_check(77);
    for (int i = 0; i < INTS; i++)
        check(sum[i] == 2 * i + 1, "the sum of both");
    free(parts);
    free(sum);
}

static void collectives(void)
{
    MPI_Request request;
    check_fill(sent, LENGTH, (unsigned)check_rank());
    MPI_Ialltoall(sent, LENGTH / 2, MPI_BYTE, received, LENGTH / 2, MPI_BYTE, MPI_COMM_WORLD, &request);
    check_delay();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < 2; from++)
        for (size_t i = 0; i < LENGTH / 2; i++)
            check(received[(size_t)from * LENGTH / 2 + i] ==
                      check_byte(i + (size_t)check_rank() * LENGTH / 2, (unsigned)from),
                  "everybody's part");
    check_fill(sent, LENGTH, check_rank() == 0 ? 5 : 6);
    MPI_Ibcast(sent, LENGTH, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    check_delay();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(sent, LENGTH, 5), "the root's bytes");
}

/* A send whose handle is given up goes on all the same (MPI 4.1, 3.7.3). */
static void freed_request(void)
{
    MPI_Request request;
    check_fill(sent, LENGTH, 9);
    if (check_rank() == 0) {
        MPI_Isend(sent, LENGTH, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        check_delay();
    } else {
        check_recv_late(received, LENGTH, 9, 0, 3, "the message of a freed request");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Op own_op;
    check_start(&argc, &argv);
    sent = check_buffer_new(LENGTH);
    received = check_buffer_new(LENGTH);
    messages();
    persistent_messages();
    collectives();
    freed_request();
    reduce_while_receiving(MPI_SUM);
    MPI_Op_create(add_up, 1, &own_op);
    reduce_while_receiving(own_op);
    MPI_Op_free(&own_op);
    messages();
    return check_end();
}
