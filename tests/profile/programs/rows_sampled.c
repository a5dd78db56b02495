/* SPDX-License-Identifier: MIT */
/* Claim: each call of a loop is sampled as often, whether it takes long or not: both calls stand at one place, and only
 * the first one, which takes long, has a message behind it that would cross. ROW is as in rows.c.
 * cost: 50
 * ranks: 2 */
#include <mpi.h>
#include <unistd.h>

enum { LENGTH = 100 << 10, ROUNDS = 400, DELAY_US = 3000 };

static _Alignas(4096) char in[LENGTH], out[LENGTH], unused[LENGTH];

/* As a binding of another language calls MPI. */
__attribute__((noinline)) static void exchange(char *sent, int dest, char *received, int source)
{
    MPI_Sendrecv(sent, LENGTH, MPI_CHAR, dest, 0, received, LENGTH, MPI_CHAR, source, 0, /* ROW half */
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_late(void)
{
    usleep(DELAY_US);
    MPI_Send(out, LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(in, LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1) {
            send_late();
            continue;
        }
        exchange(unused, MPI_PROC_NULL, in, 1);
        exchange(out, 1, unused, MPI_PROC_NULL);
        in[0]++;
        out[0]++;
    }
    MPI_Finalize();
    return 0;
}
