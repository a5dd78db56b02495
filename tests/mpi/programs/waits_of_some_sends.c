/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitany and MPI_Waitsome of sends tell of each once, and then of none; what is written afterwards does not
 * change what arrives; a receive among them has its message.
 * arguments: waitany waitsome
 * defers: send */
#include "check.h"

enum { SENDS = 3, PERSISTENT = 1, RECEIVE = SENDS, COUNT = SENDS + 1, ROUNDS = 4, SMALL = 5000 };

static void check_end_of(int index, const MPI_Status *status, bool is_over[COUNT], const unsigned char *in)
{
    int count = 0, is_cancelled = 1;
    check(index >= 0 && index < COUNT && !is_over[index], "each is told of once");
    is_over[index] = true;
    MPI_Test_cancelled(status, &is_cancelled);
    check(!is_cancelled, "it was not cancelled");
    if (index != RECEIVE)
        return;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(count == SMALL && status->MPI_TAG == RECEIVE && check_is_filled(in, SMALL, RECEIVE), "the receive");
}

/* False: none is active any more. */
static bool wait_some(MPI_Request requests[COUNT], bool is_over[COUNT], const unsigned char *in, bool is_any)
{
    MPI_Status statuses[COUNT];
    int indices[COUNT], count = 1;
    if (is_any)
        MPI_Waitany(COUNT, requests, &indices[0], &statuses[0]);
    else
        MPI_Waitsome(COUNT, requests, &count, indices, statuses);
    if (is_any ? indices[0] == MPI_UNDEFINED : count == MPI_UNDEFINED)
        return false;
    for (int i = 0; i < count; i++)
        check_end_of(indices[i], &statuses[i], is_over, in);
    return true;
}

static void send(unsigned char *buffers[SENDS], unsigned char *in, bool is_any)
{
    MPI_Request requests[COUNT], persistent;
    MPI_Send_init(buffers[PERSISTENT], CHECK_LARGE_BYTES, MPI_BYTE, 1, PERSISTENT, MPI_COMM_WORLD, &persistent);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_over[COUNT] = {false}, has_persistent = round % 2 == 0; /* not every MPI lets these go on */
        MPI_Irecv(in, SMALL, MPI_BYTE, 1, RECEIVE, MPI_COMM_WORLD, &requests[RECEIVE]);
        for (int i = 0; i < SENDS; i++) {
            check_fill(buffers[i], CHECK_LARGE_BYTES, i + round);
            if (i != PERSISTENT || !has_persistent)
                MPI_Isend(buffers[i], CHECK_LARGE_BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        }
        if (has_persistent) {
            MPI_Start(&persistent);
            requests[PERSISTENT] = persistent;
        }
        while (wait_some(requests, is_over, in, is_any))
            continue;
        for (int i = 0; i < COUNT; i++)
            check(is_over[i] && (requests[i] != MPI_REQUEST_NULL) == (has_persistent && i == PERSISTENT),
                  "all are over");
        for (int i = 0; i < SENDS; i++)
            memset(buffers[i], 0xAA, CHECK_LARGE_BYTES);
    }
    MPI_Request_free(&persistent);
}

static void receive(unsigned char *buffer)
{
    for (int round = 0; round < ROUNDS; round++) {
        check_fill(buffer, SMALL, RECEIVE);
        MPI_Ssend(buffer, SMALL, MPI_BYTE, 0, RECEIVE, MPI_COMM_WORLD); /* which never returns early */
        for (int i = SENDS - 1; i >= 0; i--)
            check_recv_late(buffer, CHECK_LARGE_BYTES, i + round, 0, i, "the message as it was at the wait");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffers[SENDS], *in = check_buffer_new(SMALL);
    for (int i = 0; i < SENDS; i++)
        buffers[i] = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        send(buffers, in, strcmp(argv[1], "waitany") == 0);
    else
        receive(buffers[0]);
    return check_end();
}
