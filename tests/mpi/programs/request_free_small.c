/* SPDX-License-Identifier: MIT */
/* Claim: receives still return early after small requests were given up, sent ones and one that was received later.
 * defers: receive */
#include "check.h"

enum { TIMES = 4, LATE_TAG = 7 };

static unsigned char raw[CHECK_LARGE_BYTES + 3 * 4096];

static void give_up(MPI_Request *request)
{
    MPI_Request_free(request);
    check(*request == MPI_REQUEST_NULL, "the handle is null");
}

/* The one with LATE_TAG is under way when it is given up. */
static void requests_give_up(int *late)
{
    MPI_Request request;
    int out = check_rank();
    int in = -1;
    int peer = 1 - check_rank();
    MPI_Irecv(late, 1, MPI_INT, peer, LATE_TAG, MPI_COMM_WORLD, &request);
    give_up(&request);
    MPI_Isend(&out, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    give_up(&request);
    MPI_Recv(&in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in == peer, "the small message");
    MPI_Send(&out, 1, MPI_INT, peer, LATE_TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    /* The first page is shared with other data. */
    unsigned char *buffer = raw + 4096 - (size_t)raw % 4096 + 100;
    int late = -1;
    check_start(&argc, &argv);
    requests_give_up(&late);
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, i);
        } else {
            check_recv(buffer, CHECK_LARGE_BYTES, 1, i);
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, (unsigned)i), "the large message");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(late == 1 - check_rank(), "the message of the request that was given up");
    return check_end();
}
