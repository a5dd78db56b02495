/* SPDX-License-Identifier: MIT */
/* Claim: a receive that waits for a rank that has died fails, now or in a later call, with the class that tells so;
 * one on a communicator that is revoked, too; and what is left of the job shrinks, agrees and goes on.
 * ranks: 3
 * records: none
 * survives: yes
 * quick: openmpi5 */
#include <signal.h>

#include "check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
enum { TAG = 3 };

/* What a receive returns, or, when it returned early, the next call. */
static int error_of_receive(unsigned char *buffer, int source, MPI_Comm comm)
{
    int error = MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, source, TAG, comm, MPI_STATUS_IGNORE);
    buffer[0]++; /* a touch: the op is over now */
    return check_class_or_late(error, comm);
}

static void go_on(MPI_Comm left, unsigned char *buffer)
{
    int rank, flag = 1;
    check(MPIX_Comm_agree(left, &flag) == MPI_SUCCESS && flag == 1, "agree");
    MPI_Comm_rank(left, &rank);
    if (rank == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, TAG, left);
    } else {
        MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, TAG, left, MPI_STATUS_IGNORE);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "a message between those that are left");
    }
    MPI_Barrier(left);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left;
    int size;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    if (check_rank() == 2) {
        check_delay();
        raise(SIGKILL);
    }
    if (check_rank() == 0) {
        check(error_of_receive(buffer, 2, comm) == MPIX_ERR_PROC_FAILED, "the sender has died");
        MPIX_Comm_revoke(comm);
    } else {
        check(error_of_receive(buffer, 0, comm) == MPIX_ERR_REVOKED, "the communicator is revoked");
    }
    check(MPIX_Comm_shrink(comm, &left) == MPI_SUCCESS, "shrink");
    MPI_Comm_size(left, &size);
    check(size == 2, "two are left");
    go_on(left, buffer);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has no such extension");
}
#endif
