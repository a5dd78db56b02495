/* SPDX-License-Identifier: MIT */
/* Claim: a process that ends without MPI_Finalize may write the buffer of a send whose request was freed, and which
 * nobody receives.
 * exit: nonzero
 * timeout: 25
 * quick: openmpi4 mpich4 */
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;

static void use_buffer(void)
{
    memset(buffer, 1, CHECK_LARGE_BYTES);
    _exit(5);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1)
        sleep(20); /* ended by the launcher */
    atexit(use_buffer);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    exit(5);
}
