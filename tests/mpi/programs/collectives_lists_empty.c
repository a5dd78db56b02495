/* SPDX-License-Identifier: MIT */
/* Claim: a rank that sends and receives nothing may give one address for both, or none; the others need not.
 * quick: openmpi4
 * arguments: alltoallv alltoallw */
#include "check.h"

enum { COUNT = 40000, ROUNDS = 40 };

/* To others than Open MPI it is an error; of Intel MPI the peers then wait for ever. */
#ifdef OPEN_MPI
static const bool is_allowed = true;
#else
static const bool is_allowed = false;
#endif

static void exchange_nothing(const char *way, int round, int *out, int *in, MPI_Comm comm)
{
    int zeros[2] = {0, 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    bool is_one = is_allowed && check_rank() == 0;
    if (is_one && round % 2 == 0)
        out = NULL;
    int *other = is_one ? out : in;
    if (strcmp(way, "alltoallv") == 0)
        MPI_Alltoallv(out, zeros, zeros, MPI_INT, other, zeros, zeros, MPI_INT, comm);
    else
        MPI_Alltoallw(out, zeros, zeros, types, other, zeros, zeros, types, comm);
}

int main(int argc, char **argv)
{
    int counts[2] = {COUNT, COUNT}, displacements[2] = {0, COUNT};
    MPI_Comm comm;
    check_start(&argc, &argv);
    int *out = (int *)check_buffer_new(2L * COUNT * sizeof(int)),
        *in = (int *)check_buffer_new(2L * COUNT * sizeof(int));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++) {
        exchange_nothing(argv[1], round, out, in, comm);
        out[0] = out[COUNT] = round;
        MPI_Alltoallv(out, counts, displacements, MPI_INT, in, counts, displacements, MPI_INT, comm);
        check(in[0] == round && in[COUNT] == round, "what follows is right");
    }
    MPI_Comm_free(&comm);
    return check_end();
}
