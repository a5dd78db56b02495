/* SPDX-License-Identifier: MIT */
/* Claim: a program with one thread that once received without blocking still has its receives returned early, also
 * beside other data.
 * defers: receive */
#include <sys/mman.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory =
        mmap(NULL, CHECK_LARGE_BYTES + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *buffer = memory + 1000;
    MPI_Request request;
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 3);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 2);
        return check_end();
    }
    MPI_Irecv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 2);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message arrived");
    return check_end();
}
