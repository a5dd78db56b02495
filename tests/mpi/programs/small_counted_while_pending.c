/* SPDX-License-Identifier: MIT */
/* Claim: small nonblocking messages that end while a large one is pending, or under MPI_THREAD_MULTIPLE, are forgotten:
 * afterwards a receive whose buffer shares a page still returns early.
 * arguments: single multiple
 * defers: send receive
 * environment: LAPWING_MATCH=off */
#include "check.h"

enum { COUNT = 4, TAG_LARGE = 1, TAG_SMALL = 2, TAG_SHARED = 3 };

static void rank_send(unsigned char *buffer)
{
    MPI_Request request, requests[COUNT];
    check_send(buffer, CHECK_LARGE_BYTES, 1, TAG_LARGE);
    for (int i = 0; i < COUNT; i++) {
        MPI_Isend(&i, 1, MPI_INT, 1, TAG_SMALL, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int numbers[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        MPI_Isend(&numbers[i], 1, MPI_INT, 1, TAG_SMALL, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    buffer[0]++; /* waits for the large one */
}

static void rank_receive(unsigned char *buffer)
{
    MPI_Request request;
    int number;
    check_delay();
    MPI_Irecv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, TAG_LARGE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * COUNT; i++)
        MPI_Recv(&number, 1, MPI_INT, 0, TAG_SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "multiple") == 0)
        check_start_multiple(&argc, &argv);
    else
        check_start(&argc, &argv);
    unsigned char *buffer = aligned_alloc(4096, CHECK_LARGE_BYTES), *shared = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(buffer, CHECK_LARGE_BYTES, 1);
    check_fill(shared, CHECK_LARGE_BYTES, 2);
    if (check_rank() == 0) {
        rank_send(buffer);
        check_delay(); /* the engine has parked */
        check_recv(shared + 1, CHECK_LARGE_BYTES - 1, 1, TAG_SHARED);
        check(check_is_filled(shared + 1, CHECK_LARGE_BYTES - 1, 3), "the message that shares a page");
    } else {
        rank_receive(buffer);
        check_delay();
        check_delay();
        check_fill(shared, CHECK_LARGE_BYTES, 3);
        check_send(shared, CHECK_LARGE_BYTES - 1, 0, TAG_SHARED);
    }
    return check_end();
}
