/* SPDX-License-Identifier: MIT */
/* Claim: a communicator made from a session carries large messages, beside MPI_COMM_WORLD.
 * quick: mpich4 openmpi5 mpi5abi impi */
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), peer = 1 - rank;
    check_fill(out, CHECK_LARGE_BYTES, rank);
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
        printf("this MPI has no session beside the world\n");
        MPI_Finalize();
        return 77;
    }
    check(check_is_filled(in, CHECK_LARGE_BYTES, peer), "the world's message");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "lapwing.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (int i = 0; i < 4; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + rank);
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, comm,
                     MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer), "the session's message");
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no sessions");
}
#endif
