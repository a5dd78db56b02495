/* SPDX-License-Identifier: MIT */
/* Claim: after the wait for a nonblocking send its communicator, its datatype and its buffer may be freed, and the same
 * buffer may be sent again; the communicator and the datatype may be freed before, too.
 * arguments: before after
 * defers: send */
#include <sys/mman.h>

#include "check.h"

enum { INTS = CHECK_LARGE_BYTES / 4 };

static void send(unsigned char *buffer, MPI_Comm *comm, bool is_before)
{
    MPI_Datatype four;
    MPI_Request requests[2];
    MPI_Type_contiguous(4, MPI_BYTE, &four);
    MPI_Type_commit(&four);
    MPI_Isend(buffer, INTS, four, 1, 1, *comm, &requests[0]);
    if (is_before) {
        MPI_Type_free(&four);
        MPI_Comm_free(comm);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (!is_before) {
        MPI_Type_free(&four);
        munmap(buffer, CHECK_LARGE_BYTES);
        MPI_Comm_free(comm);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    unsigned char *buffer = mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_fill(buffer, CHECK_LARGE_BYTES, 5);
    if (check_rank() == 0) {
        send(buffer, &comm, strcmp(argv[1], "before") == 0);
        return check_end();
    }
    check_delay();
    memset(buffer, 0, CHECK_LARGE_BYTES);
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the first message");
    check_recv_late(buffer, CHECK_LARGE_BYTES, 5, 0, 2, "the second message");
    MPI_Comm_free(&comm);
    return check_end();
}
