/* SPDX-License-Identifier: MIT */
/* Claim: the wait for a synchronous send ends only after the receiver has called its receive, and that for a send which
 * the program has asked MPI to cancel is MPI's own. (Intel MPI's ends at once, cancelled or not.)
 * arguments: issend ssend_init cancel
 * defers: nothing */
#include <unistd.h>

#include "check.h"

static void begin(const char *way, const void *buffer, MPI_Request *request)
{
    if (strcmp(way, "issend") == 0) {
        MPI_Issend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, request);
    } else if (strcmp(way, "cancel") == 0) {
        MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, request);
        MPI_Cancel(request);
    } else {
        MPI_Ssend_init(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, request);
        MPI_Start(request);
    }
}

/* Passed on as it is: a name of 64 bytes is no message that returns early, but for a threshold of one byte. */
static void exchange(void *data, int length_bytes, int from)
{
    MPI_Request request;
    if (check_rank() == from)
        MPI_Issend(data, length_bytes, MPI_BYTE, 1 - from, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(data, length_bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(unsigned char *buffer)
{
    MPI_Request request;
    int is_cancelled = 0;
    MPI_Irecv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    exchange(&is_cancelled, sizeof is_cancelled, 0);
    if (is_cancelled)
        MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(is_cancelled || check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    char path[64] = "/tmp/waits_of_sends_XXXXXX";
    int is_cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    if (check_rank() == 0)
        close(mkstemp(path));
    exchange(path, sizeof path, 0);
    if (check_rank() == 1) {
        check_delay();
        unlink(path);
        receive(buffer);
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 3);
    begin(argv[1], buffer, &request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    check(strcmp(argv[1], "cancel") == 0 || access(path, F_OK) != 0,
          "the receiver removed the file before its receive");
    exchange(&is_cancelled, sizeof is_cancelled, 0);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    unlink(path);
    return check_end();
}
