/* SPDX-License-Identifier: MIT */
/* For test_surroundings.py: messages of a MiB cross, and one follows that is late; both are compared.
 *     exchange CODE     what it returns; 9 where a message is wrong */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 1 << 20, ROUNDS = 3, LATE_NS = 10000000 };

static void late_send(const unsigned char *buffer)
{
    nanosleep(&(struct timespec){0, LATE_NS}, NULL);
    MPI_Send(buffer, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

static int is_filled(const unsigned char *buffer, int value)
{
    return buffer[0] == value && memcmp(buffer, buffer + 1, LENGTH - 1) == 0;
}

static int round_play(unsigned char *own, unsigned char *other, int rank, int round)
{
    memset(own, round + rank, LENGTH);
    MPI_Sendrecv(own, LENGTH, MPI_BYTE, 1 - rank, 0, other, LENGTH, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 1)
        late_send(own);
    else
        MPI_Recv(own, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return is_filled(other, round + 1 - rank) && is_filled(own, round + 1);
}

int main(int argc, char **argv)
{
    int rank;
    unsigned char *own = malloc(LENGTH);
    unsigned char *other = malloc(LENGTH);
    MPI_Init(&argc, &argv);
    setlocale(LC_ALL, ""); /* before, stock MPICH 4.0 does not start in Turkish: UCX compares words in capitals */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++)
        if (!round_play(own, other, rank, round))
            MPI_Abort(MPI_COMM_WORLD, 9);
    if (rank == 0)
        puts("all is there");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return atoi(argv[1]);
}
