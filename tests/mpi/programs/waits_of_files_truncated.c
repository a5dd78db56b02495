/* SPDX-License-Identifier: MIT */
/* Claim: a wait for operations on a file and a receive that its message is too long for tells of each what became of
 * it, beside a send under way.
 * defers: send
 * quick: mpich4 mpich5 userfaultfd */
#include "own_file.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = 50, SENT = 100, TAG = 3, REQUESTS = 3, UNTOUCHED = -99 };

static void wait_truncated(MPI_File file, unsigned char *message, unsigned char *data)
{
    unsigned char room[SENT];
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS] = {{.MPI_ERROR = UNTOUCHED}, {.MPI_ERROR = UNTOUCHED}, {.MPI_ERROR = UNTOUCHED}};
    MPI_File_iwrite_at(file, 0, data, LENGTH, MPI_BYTE, &requests[0]);
    MPI_File_iwrite_at(file, LENGTH, data, LENGTH, MPI_BYTE, &requests[1]);
    MPI_Irecv(room, ROOM, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[2]);
    check_send(message, LENGTH, 1, TAG);
    check(check_class(MPI_Waitall(REQUESTS, requests, statuses)) == MPI_ERR_IN_STATUS, "the wait fails");
    check(check_class(statuses[2].MPI_ERROR) == MPI_ERR_TRUNCATE, "the receive has failed");
    for (int i = 0; i < 2; i++) {
        int error = statuses[i].MPI_ERROR;
        bool is_over = requests[i] == MPI_REQUEST_NULL;
        check(error == (is_over ? MPI_SUCCESS : MPI_ERR_PENDING), "an operation is over, or is said not to be");
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
}

static void send_and_wait(unsigned char *message)
{
    MPI_File file = own_file_open();
    wait_truncated(file, message, check_buffer_new(LENGTH));
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    unsigned char sent[SENT] = {0};
    check_start(&argc, &argv);
    unsigned char *message = check_buffer_new(LENGTH);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 0) {
        send_and_wait(message);
    } else if (check_rank() == 1) {
        check_delay();
        check_recv(message, LENGTH, 0, TAG);
        check_delay();
        check_send(sent, SENT, 0, TAG);
    }
    return check_end();
}
