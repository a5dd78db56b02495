/* SPDX-License-Identifier: MIT */
/* Claim: a communicator that is being duplicated (MPI_Comm_idup) can carry a large collective meanwhile, also if the
 * duplicate has come further on one rank than on the other. */
#include <unistd.h>

#include "check.h"

/* Rank 0 lets MPI work, rank 1 does not. */
static void go_on_unevenly(void)
{
    enum { PAUSE_US = 50000, PAUSES = 50 };
    int found;
    for (int i = 0; check_rank() == 0 && i < PAUSES; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        usleep(PAUSE_US / PAUSES);
    }
    if (check_rank() != 0)
        usleep(2 * PAUSE_US);
}

static void duplicate(unsigned char *buffer, unsigned seed)
{
    MPI_Comm comm, copy;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_idup(comm, &copy, &request);
    if (seed % 2 == 1)
        go_on_unevenly();
    if (check_rank() == 0)
        check_fill(buffer, CHECK_LARGE_BYTES, seed);
    MPI_Bcast(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the broadcast");
    MPI_Bcast(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned turn = 0; turn < 5; turn++)
        duplicate(buffer, turn);
    return check_end();
}
