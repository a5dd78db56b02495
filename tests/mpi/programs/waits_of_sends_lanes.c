/* SPDX-License-Identifier: MIT */
/* Claim: of several sends MPI_Waitany and MPI_Waitsome name those that are over: who fills such a buffer anew does not
 * wait for a send whose receiver needs another one's next message first.
 * arguments: waitany waitsome */
#include "check.h"

enum { LANES = 2, ROUNDS = 3 };

/* A lane's message number `done` - 1 is over: the next one follows, if there is one. */
static void lane_go_on(int lane, unsigned char *buffer, int done, MPI_Request *request)
{
    check(done <= ROUNDS, "each message is over once");
    if (done == ROUNDS)
        return;
    check_fill(buffer, CHECK_LARGE_BYTES, lane + LANES * done);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, lane, MPI_COMM_WORLD, request);
}

/* How many are over; negative: none is active any more. */
static int wait_some(MPI_Request requests[LANES], int lanes[LANES], bool is_any)
{
    int count = 1;
    if (is_any)
        MPI_Waitany(LANES, requests, &lanes[0], MPI_STATUS_IGNORE);
    else
        MPI_Waitsome(LANES, requests, &count, lanes, MPI_STATUSES_IGNORE);
    bool is_none = is_any ? lanes[0] == MPI_UNDEFINED : count == MPI_UNDEFINED;
    return is_none ? -1 : count;
}

static void send(bool is_any)
{
    unsigned char *buffers[LANES];
    MPI_Request requests[LANES];
    int lanes[LANES], done[LANES] = {0};
    for (int lane = 0; lane < LANES; lane++) {
        buffers[lane] = check_buffer_new(CHECK_LARGE_BYTES);
        lane_go_on(lane, buffers[lane], 0, &requests[lane]);
    }
    for (int count; (count = wait_some(requests, lanes, is_any)) >= 0;)
        for (int i = 0; i < count; i++)
            lane_go_on(lanes[i], buffers[lanes[i]], ++done[lanes[i]], &requests[lanes[i]]);
    for (int lane = 0; lane < LANES; lane++)
        check(done[lane] == ROUNDS, "all messages are over");
}

/* All of the last lane first. */
static void receive(void)
{
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int lane = LANES - 1; lane >= 0; lane--)
        for (int round = 0; round < ROUNDS; round++)
            check_recv_late(buffer, CHECK_LARGE_BYTES, lane + LANES * round, 0, lane, "a lane's message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check_rank() == 0)
        send(strcmp(argv[1], "waitany") == 0);
    else
        receive();
    return check_end();
}
