/* SPDX-License-Identifier: MIT */
/* Claim: a jump out of an error handler, and so out of a call of MPI's, ends no profile.
 * ranks: 2
 * expect: MPI_Allreduce 20 160
 */
#include <mpi.h>
#include <setjmp.h>

enum { ROUNDS = 10 };

static jmp_buf before;

static void leave(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    longjmp(before, 1);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    double value = 1;
    double sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (setjmp(before) == 0)
            MPI_Send(&value, 1, MPI_DOUBLE, 77, 0, MPI_COMM_WORLD); /* there is no such rank */
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
