/* SPDX-License-Identifier: MIT */
/* Claim: a large collective on a communicator that is revoked fails, now or in the next call, with the class that tells
 * so; one that a rank has died before, too. Calls before have been large, so that they may return early.
 * ranks: 2
 * arguments: revoke die
 * environment: LAPWING_LEARN=on
 * records: none
 * survives: yes
 * quick: openmpi5 */
#include <signal.h>

#include "check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
/* What the ranks agree upon they do before the call after these. */
enum { COUNT = 200000, CALLS = 3 };

static int ones[COUNT], sums[COUNT];

static int add_up(MPI_Comm comm)
{
    int error = MPI_Allreduce(ones, sums, COUNT, MPI_INT, MPI_SUM, comm);
    sums[0]++; /* a touch: the collective is over now */
    return error;
}

static int class_of_failure(MPI_Comm comm)
{
    int class;
    int error = add_up(comm);
    MPI_Error_class(error != MPI_SUCCESS ? error : MPI_Barrier(comm), &class);
    return class;
}

static void fail_revoked(MPI_Comm comm)
{
    add_up(comm);
    if (check_rank() == 0) {
        check_delay();
        MPIX_Comm_revoke(comm);
    } else {
        check(class_of_failure(comm) == MPIX_ERR_REVOKED, "the communicator has been revoked");
    }
}

static void fail_dead(MPI_Comm comm)
{
    if (check_rank() == 1)
        raise(SIGKILL);
    check(class_of_failure(comm) == MPIX_ERR_PROC_FAILED, "a rank has died");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < CALLS; i++)
        add_up(comm);
    if (strcmp(argv[1], "revoke") == 0)
        fail_revoked(comm);
    else
        fail_dead(comm);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has no such extension");
}
#endif
