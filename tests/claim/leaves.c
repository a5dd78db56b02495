/* SPDX-License-Identifier: MIT */
/* Two ranks send each other a large message. Then one of them looks into MPI for a tenth of a second before it follows
 * the other into MPI_Finalize, where MPICH 4.0 on UCX over TCP would wait for ever (src/mpi/quiet_end.c). Before it
 * does so it receives what the other sends in MPI_Finalize, where an attribute of MPI_COMM_SELF is deleted. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 1 << 20 };

static const double late_s = 0.1;

static int send_last(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    return MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

static void expect_last(int rank)
{
    int keyval;
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_last, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    }
}

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
    expect_last(rank);
    MPI_Finalize();
    return 0;
}
