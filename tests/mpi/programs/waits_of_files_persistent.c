/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitall of a persistent collective and an operation on a file ends, beside a send under way. MPICH's
 * operations on files only go on in calls that complete them.
 * defers: send
 * quick: mpich4 mpich5 userfaultfd */
#include "own_file.h"

#if MPI_VERSION >= 4
enum { LENGTH = CHECK_LARGE_BYTES, TAG = 3, ROUNDS = 3, REQUESTS = 3 };

static unsigned char *message, *data;

static void wait_play(MPI_File file, int round, MPI_Request requests[REQUESTS])
{
    int count = -1;
    MPI_Status statuses[REQUESTS];
    MPI_Startall(2, requests);
    MPI_File_iread_at(file, 0, data, LENGTH, MPI_BYTE, &requests[2]);
    check_fill(message, LENGTH, (unsigned)round);
    check_send(message, LENGTH, 1, TAG);
    check(MPI_Waitall(REQUESTS, requests, statuses) == MPI_SUCCESS, "the wait");
    check(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, "persistent requests stay");
    check(requests[2] == MPI_REQUEST_NULL, "the operation is over");
    check(statuses[1].MPI_SOURCE == 1 && statuses[1].MPI_TAG == TAG, "the status of the answer");
    MPI_Get_count(&statuses[2], MPI_BYTE, &count);
    check(count == LENGTH, "the status of what was read");
    check(check_is_filled(data, LENGTH, TAG), "what was read");
}

/* A broadcast that ends first, and an answer that comes when the file has been read. */
static void send_and_wait(MPI_Request requests[REQUESTS])
{
    MPI_File file = own_file_open();
    check_fill(data, LENGTH, TAG);
    MPI_File_write_at(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int round = 0; round < ROUNDS; round++)
        wait_play(file, round, requests);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int number = 0, answer = 0;
    MPI_Request requests[REQUESTS];
    check_start(&argc, &argv);
    message = check_buffer_new(LENGTH);
    data = check_buffer_new(LENGTH);
    MPI_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    if (check_rank() == 0)
        MPI_Recv_init(&answer, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[1]);
    else
        MPI_Send_init(&answer, 1, MPI_INT, check_rank() == 1 ? 0 : MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[1]);
    if (check_rank() == 0)
        send_and_wait(requests);
    for (int round = 0; round < ROUNDS && check_rank() != 0; round++) {
        MPI_Start(&requests[0]);
        if (check_rank() == 1)
            check_recv_late(message, LENGTH, (unsigned)round, 0, TAG, "the message");
        check_delay();
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has none of MPI 4.0's");
}
#endif
