/* SPDX-License-Identifier: MIT */
/* Claim: when a rank is killed, peers that wait for it end with the job, wherever they wait.
 * exit: nonzero
 * ranks: 3
 * arguments: touch write read free wait barrier probe finalize exit
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * timeout: 30 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static const char *way;

static bool is_way(const char *word)
{
    return strcmp(way, word) == 0;
}

static void wait_somewhere(void)
{
    MPI_Request request;
    MPI_Status status;
    if (is_way("touch"))
        printf("not reached %d\n", buffer[0]);
    if (is_way("read"))
        (void)!read(open("/dev/zero", O_RDONLY), buffer, CHECK_LARGE_BYTES);
    if (is_way("free"))
        free(buffer);
    if (is_way("wait")) {
        MPI_Irecv(&status, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (is_way("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (is_way("probe"))
        MPI_Probe(1, 5, MPI_COMM_WORLD, &status);
    if (is_way("exit"))
        exit(0);
}

/* Rank 1 is killed; 0 and 2 wait for what it will never send or receive. */
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        for (int i = 0; i < 4; i++)
            check_delay();
        raise(SIGKILL);
    }
    if (is_way("write")) {
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
        buffer[0] = 1;
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    }
    wait_somewhere();
    return check_end();
}
