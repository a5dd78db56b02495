/* SPDX-License-Identifier: MIT */
/* Claim: whichever call completes a large nonblocking receive, or tells that it is over, its message is there
 * afterwards; also where the buffer was looked at before.
 * arguments: test testall testsome waitany get_status cancel barrier
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, GO = 1, DATA = 2, ROUNDS = 6 };

static const char *way;

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

static bool is_ended(MPI_Request *request, MPI_Status *status)
{
    int is_over = 0, index = 0;
    if (is_way("test"))
        MPI_Test(request, &is_over, status);
    if (is_way("testall"))
        MPI_Testall(1, request, &is_over, status);
    if (is_way("testsome"))
        MPI_Testsome(1, request, &is_over, &index, status);
    if (is_way("waitany"))
        is_over = MPI_Waitany(1, request, &index, status) == MPI_SUCCESS;
    if (is_way("get_status"))
        MPI_Request_get_status(*request, &is_over, status);
    if (is_way("cancel"))
        MPI_Cancel(request);
    if (is_way("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (is_way("cancel") || is_way("barrier"))
        is_over = MPI_Wait(request, status) == MPI_SUCCESS;
    return is_over;
}

static void check_ended(const unsigned char *buffer, MPI_Status *status, int round)
{
    int count, is_cancelled = 0;
    if (is_way("cancel"))
        MPI_Test_cancelled(status, &is_cancelled);
    if (!is_cancelled) {
        MPI_Get_count(status, MPI_BYTE, &count);
        check(count == LARGE && status->MPI_SOURCE == 1 && status->MPI_TAG == DATA, "the status");
    }
    check(is_cancelled || check_is_filled(buffer, LARGE, (unsigned)round), "the message");
    if (is_cancelled)
        check_recv((unsigned char *)buffer, LARGE, 1, DATA);
}

static void receive(unsigned char *buffer, int round)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(buffer, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    if (round % 2 != 0)
        *(volatile unsigned char *)buffer;
    check_send(NULL, 0, 1, GO);
    while (!is_ended(&request, &status)) {
    }
    check_ended(buffer, &status, round);
    if (is_way("get_status"))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(request == MPI_REQUEST_NULL, "the request is null");
}

static void send(unsigned char *buffer, int round)
{
    check_fill(buffer, LARGE, (unsigned)round);
    check_recv(NULL, 0, 0, GO);
    check_delay();
    if (is_way("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    check_send(buffer, LARGE, 0, DATA);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    unsigned char *buffer = check_buffer_new(LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            receive(buffer, round);
        else
            send(buffer, round);
    }
    return check_end();
}
