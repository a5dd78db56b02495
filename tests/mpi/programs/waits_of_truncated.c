/* SPDX-License-Identifier: MIT */
/* Claim: a wait for receives, one of which its message is too long for, tells what it does with MPI alone,
 * beside a send under way, also where the program has persistent collectives, which are waited for otherwise.
 * defers: send
 * quick: mpich4 mpich5 userfaultfd */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = 50, SENT = 100, TAG = 3, UNTOUCHED = -99 };

static int class_of(int error)
{
    return error == UNTOUCHED ? UNTOUCHED : check_class(error);
}

static void make_collective(MPI_Request *request)
{
#if MPI_VERSION >= 4
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, request);
#else
    *request = MPI_REQUEST_NULL;
#endif
}

static void wait_truncated(unsigned char *large)
{
    unsigned char rooms[2][SENT];
    MPI_Request requests[2], sent;
    MPI_Status statuses[2] = {{.MPI_ERROR = UNTOUCHED}, {.MPI_ERROR = UNTOUCHED}};
    MPI_Irecv(rooms[0], ROOM, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(rooms[1], ROOM, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(rooms[0], SENT, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &sent);
    check_send(rooms[1], ROOM, 0, TAG + 1);
    check_send(large, LENGTH, 1, TAG);
    int error = MPI_Waitall(2, requests, statuses);
    printf("class %d, of the requests %d %d, null %d %d\n", check_class(error), class_of(statuses[0].MPI_ERROR),
           class_of(statuses[1].MPI_ERROR), requests[0] == MPI_REQUEST_NULL, requests[1] == MPI_REQUEST_NULL);
    for (int i = 0; i < 2; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Request collective;
    check_start(&argc, &argv);
    unsigned char *large = check_buffer_new(LENGTH);
    make_collective(&collective);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 1) {
        check_delay();
        check_recv(large, LENGTH, 0, TAG);
    } else if (check_rank() == 0) {
        wait_truncated(large);
    }
    if (collective != MPI_REQUEST_NULL)
        MPI_Request_free(&collective);
    return check_end();
}
