/* SPDX-License-Identifier: MIT */
/* Claim: a call with what is no datatype returns that error where its communicator has MPI_ERRORS_RETURN, and the
 * handlers of MPI_COMM_WORLD and MPI_COMM_SELF, which would end the job, do not hear of it. */
#include "check.h"

#ifdef OPEN_MPI
static const MPI_Datatype no_datatype = NULL;
#else
static const MPI_Datatype no_datatype = (MPI_Datatype)MPI_COMM_WORLD; /* a handle of another kind */
#endif

static bool is_refused(int error)
{
    return check_class(error) == MPI_ERR_TYPE;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Request request;
    check_start(&argc, &argv);
    int peer = 1 - check_rank();
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check(is_refused(MPI_Send(buffer, 10, no_datatype, peer, 0, comm)), "MPI_Send");
    check(is_refused(MPI_Recv(buffer, 10, no_datatype, peer, 0, comm, MPI_STATUS_IGNORE)), "MPI_Recv");
    check(is_refused(MPI_Isend(buffer, 10, no_datatype, peer, 0, comm, &request)), "MPI_Isend");
    check(is_refused(MPI_Sendrecv_replace(buffer, 10, no_datatype, peer, 0, peer, 0, comm, MPI_STATUS_IGNORE)),
          "MPI_Sendrecv_replace");
    MPI_Barrier(comm);
    return check_end();
}
