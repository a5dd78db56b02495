/* SPDX-License-Identifier: MIT */
/* Claim: what lies beside a watched buffer, on its first or last page, may be touched without being taken for it.
 * ranks: 2
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 40000, OFFSET = 100 };

static volatile char sink;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *block = calloc(1, LENGTH + 2 * OFFSET + 200000);
    memset(block, 1, LENGTH + 2 * OFFSET + 200000);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            MPI_Send(block + OFFSET, LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(block + OFFSET, LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL */
            sink = block[OFFSET - 1];
            block[OFFSET + LENGTH] = 1;
            sink = block[OFFSET + LENGTH / 2]; /* TOUCH */
        }
    }
    MPI_Finalize();
    return 0;
}
