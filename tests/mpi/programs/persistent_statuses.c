/* SPDX-License-Identifier: MIT */
/* Claim: statuses tell of persistent receives that are waited for beside large sends, and each of these requests is
 * told of once. With MPICH 5 and Intel MPI a persistent request that MPI_Request_get_status has found over is not
 * active any more, and its status is lost. */
#include "check.h"

enum { ROUNDS = 20, TAG = 5, REQUESTS = 3, LENGTH = 1000 };

static MPI_Request requests[REQUESTS]; /* a large send, a persistent receive, a persistent send */
static MPI_Status statuses[REQUESTS];
static unsigned char *sent;
static unsigned char *received;
static unsigned char *small;

static void status_check(const MPI_Status *status, int peer)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(status->MPI_SOURCE == peer && status->MPI_TAG == TAG, "the status of a persistent receive");
    check(count == LENGTH, "the count of a persistent receive");
}

static void wait_all(int peer)
{
    MPI_Waitall(REQUESTS, requests, statuses);
    status_check(&statuses[1], peer);
}

static void wait_some(int peer)
{
    int times[REQUESTS] = {0};
    int indices[REQUESTS];
    int count = 0;
    for (int left = REQUESTS; left > 0; left -= count) {
        MPI_Waitsome(REQUESTS, requests, &count, indices, statuses);
        check(count != MPI_UNDEFINED, "not all requests are told of");
        for (int i = 0; i < count; i++) {
            times[indices[i]]++;
            if (indices[i] == 1)
                status_check(&statuses[i], peer);
        }
    }
    for (int i = 0; i < REQUESTS; i++)
        check(times[i] == 1, "each request once");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int peer = 1 - check_rank();
    sent = check_buffer_new(CHECK_LARGE_BYTES);
    received = check_buffer_new(CHECK_LARGE_BYTES);
    small = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Recv_init(small, CHECK_LARGE_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(check_buffer_new(LENGTH), LENGTH, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[2]);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request receive;
        check_fill(sent, CHECK_LARGE_BYTES, (unsigned)(2 * round + check_rank()));
        MPI_Startall(2, &requests[1]);
        MPI_Isend(sent, CHECK_LARGE_BYTES, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, &requests[0]);
        if (round % 4 / 2 == check_rank())
            check_delay();
        MPI_Irecv(received, CHECK_LARGE_BYTES, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, &receive);
        (round % 2 == 0 ? wait_all : wait_some)(peer);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        check(check_is_filled(received, CHECK_LARGE_BYTES, (unsigned)(2 * round + peer)), "the large message");
    }
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[2]);
    return check_end();
}
