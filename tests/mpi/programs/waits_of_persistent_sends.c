/* SPDX-License-Identifier: MIT */
/* Claim: after the wait for a persistent send its request is inactive, whatever asks; it can be started again, or
 * freed; and what is written into the buffer does not change what arrives.
 * arguments: wait waitall
 * defers: send */
#include "check.h"

enum { PART = 300001, AT = 12345 };

/* MPI 4.1, 3.7.3: an empty status. */
static void check_empty(const MPI_Status *status)
{
    int count = -1, is_cancelled = 1;
    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &is_cancelled);
    bool is_empty = status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG;
    check(is_empty && count == 0 && !is_cancelled, "the status is empty");
}

static void ask_wait(MPI_Request requests[2])
{
    MPI_Status status;
    MPI_Wait(&requests[0], &status);
    check_empty(&status);
}

static void ask_test(MPI_Request requests[2])
{
    MPI_Status status;
    int flag = 0;
    MPI_Test(&requests[0], &flag, &status);
    check(flag, "MPI_Test: over");
    check_empty(&status);
}

static void ask_status(MPI_Request requests[2])
{
    MPI_Status status;
    int flag = 0;
    MPI_Request_get_status(requests[0], &flag, &status);
    check(flag, "MPI_Request_get_status: over");
    check_empty(&status);
}

static void ask_any(MPI_Request requests[2])
{
    MPI_Status status;
    int index = 0, flag = 0;
    MPI_Waitany(2, requests, &index, &status);
    check(index == MPI_UNDEFINED, "MPI_Waitany: none is active");
    check_empty(&status);
    index = 0;
    MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    check(flag && index == MPI_UNDEFINED, "MPI_Testany: none is active");
}

static void ask_some(MPI_Request requests[2])
{
    int indices[2], count = 0;
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    check(count == MPI_UNDEFINED, "MPI_Waitsome: none is active");
    count = 0;
    MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    check(count == MPI_UNDEFINED, "MPI_Testsome: none is active");
}

static void ask_nothing(MPI_Request requests[2])
{
    (void)requests;
}

static void (*const questions[])(MPI_Request requests[2]) = {ask_nothing, ask_wait, ask_test,
                                                             ask_status,  ask_any,  ask_some};
enum { ROUNDS = sizeof questions / sizeof questions[0] };

static void run(MPI_Request requests[2], bool is_all)
{
    const MPI_Request before[2] = {requests[0], requests[1]};
    MPI_Startall(2, requests);
    if (is_all)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 && !is_all; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check(requests[0] == before[0] && requests[1] == before[1], "the requests are still there");
}

static void send(unsigned char *buffer, bool is_all)
{
    MPI_Request requests[2];
    MPI_Send_init(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Rsend_init(buffer + AT, PART, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        check_fill(buffer, CHECK_LARGE_BYTES, i);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        run(requests, is_all);
        questions[i](requests);
        memset(buffer, 0xAA, CHECK_LARGE_BYTES);
    }
    check_fill(buffer, CHECK_LARGE_BYTES, ROUNDS);
    for (int i = 0; i < 2; i++) { /* again, the first still under way */
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "freed");
    memset(buffer, 0xAA, CHECK_LARGE_BYTES);
}

static void receive(unsigned char *buffer, unsigned char *part)
{
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(part, PART, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        check_recv_late(buffer, CHECK_LARGE_BYTES, i, 0, 0, "the message as it was at the wait");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (size_t j = 0; j < PART; j++)
            check(part[j] == check_byte(j + AT, i), "its part");
    }
    check_recv_late(buffer, CHECK_LARGE_BYTES, ROUNDS, 0, 0, "the message");
    check_recv_late(buffer, CHECK_LARGE_BYTES, ROUNDS, 0, 0, "the message once more");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES), *part = check_buffer_new(PART);
    if (check_rank() == 0)
        send(buffer, strcmp(argv[1], "waitall") == 0);
    else
        receive(buffer, part);
    return check_end();
}
