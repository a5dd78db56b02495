/* SPDX-License-Identifier: MIT */
/* Claim: the wait for a nonblocking receive leaves a null request and an exact status, and the message is there when it
 * is touched, also one that is shorter than its buffer, whose rest keeps its bytes.
 * arguments: wait waitall
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * defers: receive */
#include "check.h"

enum { ROUNDS = 12, LARGE = CHECK_LARGE_BYTES, REST = 70001 };

static void end(MPI_Request *request, MPI_Status *status, bool is_all)
{
    if (is_all)
        MPI_Waitall(1, request, status);
    else
        MPI_Wait(request, status);
    check(*request == MPI_REQUEST_NULL, "the request is null");
}

static void check_status(const MPI_Status *status, int tag, int length)
{
    int count = -1, is_cancelled = 1;
    check(status->MPI_SOURCE == 1 && status->MPI_TAG == tag, "source and tag");
    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &is_cancelled);
    check(count == length && !is_cancelled, "count, and not cancelled");
}

/* Every third message is looked at before its status, and every third is shorter. */
static void receive(unsigned char *buffer, int round, bool is_all)
{
    MPI_Request request;
    MPI_Status status;
    int length = round % 3 == 2 ? LARGE - REST : LARGE;
    memset(buffer, 0xBB, LARGE);
    MPI_Irecv(buffer, LARGE, MPI_BYTE, 1, round, MPI_COMM_WORLD, &request);
    check_send(NULL, 0, 1, ROUNDS);
    end(&request, &status, is_all);
    if (round % 3 != 0)
        check_status(&status, round, length);
    check(check_is_filled(buffer, (size_t)length, (unsigned)round), "the message");
    for (int i = length; i < LARGE; i++)
        check(buffer[i] == 0xBB, "what lies behind it");
    check_status(&status, round, length);
}

static void send(unsigned char *buffer, int round)
{
    int length = round % 3 == 2 ? LARGE - REST : LARGE;
    check_fill(buffer, (size_t)length, (unsigned)round);
    check_recv(NULL, 0, 0, ROUNDS);
    check_delay();
    check_send(buffer, (size_t)length, 0, round);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            receive(buffer, round, strcmp(argv[1], "waitall") == 0);
        else
            send(buffer, round);
    }
    return check_end();
}
