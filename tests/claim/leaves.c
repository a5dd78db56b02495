/* SPDX-License-Identifier: MIT */
/* Two ranks send each other a large message. Then one of them looks into MPI for a tenth of a second before it follows
 * the other into MPI_Finalize, where MPICH 4.0 on UCX over TCP would wait for ever (src/mpi/quiet_end.c). */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 1 << 20 };

static const double late_s = 0.1;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, flag;
    char *sent = calloc(1, LENGTH_BYTES), *received = calloc(1, LENGTH_BYTES);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(sent, LENGTH_BYTES, MPI_BYTE, !rank, 0, received, LENGTH_BYTES, MPI_BYTE, !rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (double begin_s = MPI_Wtime(); rank == 0 && MPI_Wtime() - begin_s < late_s;)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
