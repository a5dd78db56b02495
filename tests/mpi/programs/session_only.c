/* SPDX-License-Identifier: MIT */
/* Claim: a program that only uses a session, never MPI_Init, is passed and runs as it does alone.
 * records: none
 * quick: mpich4 openmpi5 mpi5abi impi */
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, peer;
    (void)argc;
    (void)argv;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
        return check_skip("this MPI has no session");
    }
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "lapwing.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    peer = 1 - rank;
    for (int i = 0; i < 4; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + rank);
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, comm,
                     MPI_STATUS_IGNORE);
        if (!check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer))
            MPI_Abort(comm, 9);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
#else
int main(void)
{
    return check_skip("this MPI has no sessions");
}
#endif
