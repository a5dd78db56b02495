/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitall of operations on a file and of a message that comes later ends, and tells of each, beside a send
 * under way. MPICH's MPI_Testall completes an operation on a file twice, if it is called again for that.
 * defers: send
 * quick: mpich4 mpich5 userfaultfd */
#include "own_file.h"

enum { LENGTH = CHECK_LARGE_BYTES, PART = 1000, TAG = 3, ROUNDS = 3, REQUESTS = 4 };

static unsigned char *message, *data, *written, *read_back;

static void status_check(const MPI_Status *status, int length_bytes, const char *claim)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(count == length_bytes, claim);
}

/* The second request is null: its status is empty. */
static void wait_play(MPI_File file, int round)
{
    int answer = -1;
    MPI_Request requests[REQUESTS] = {[1] = MPI_REQUEST_NULL};
    MPI_Status statuses[REQUESTS];
    MPI_File_iread_at(file, 0, read_back, LENGTH, MPI_BYTE, &requests[0]);
    MPI_File_iwrite_at(file, LENGTH, written, PART, MPI_BYTE, &requests[2]);
    check_fill(message, LENGTH, (unsigned)round);
    check_send(message, LENGTH, 1, TAG);
    MPI_Irecv(&answer, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[3]);
    check(MPI_Waitall(REQUESTS, requests, round == 0 ? MPI_STATUSES_IGNORE : statuses) == MPI_SUCCESS, "the wait");
    for (int i = 0; i < REQUESTS; i++)
        check(requests[i] == MPI_REQUEST_NULL, "all requests are over");
    check(answer == round, "the answer");
    check(check_is_filled(read_back, LENGTH, TAG), "what was read");
    if (round == 0)
        return;
    status_check(&statuses[0], LENGTH, "the status of what was read");
    check(statuses[1].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG, "an empty status");
    status_check(&statuses[2], PART, "the status of what was written");
    check(statuses[3].MPI_SOURCE == 1 && statuses[3].MPI_TAG == TAG, "the status of the answer");
}

static void send_and_wait(void)
{
    MPI_File file = own_file_open();
    check_fill(data, LENGTH, TAG);
    MPI_File_write_at(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int round = 0; round < ROUNDS; round++)
        wait_play(file, round);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    message = check_buffer_new(LENGTH);
    data = check_buffer_new(LENGTH);
    written = check_buffer_new(LENGTH);
    read_back = check_buffer_new(LENGTH);
    if (check_rank() == 0)
        send_and_wait();
    for (int round = 0; round < ROUNDS && check_rank() == 1; round++) {
        check_recv_late(message, LENGTH, (unsigned)round, 0, TAG, "the message");
        check_delay();
        check_send(&round, sizeof round, 0, TAG);
    }
    return check_end();
}
