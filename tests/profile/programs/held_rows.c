/* SPDX-License-Identifier: MIT */
/* Claim: a run would hold a buffer in vain where the next call uses another one on the same page, and the profile
 * foresees it also where it does not watch that page. A large send beside it may go on. HELD is as in held.c.
 * ranks: 2 */
#include <mpi.h>
#include <unistd.h>

enum { LENGTH = 100 << 10, SHORT = 8, ROUNDS = 5 };

static _Alignas(4096) char rows[3][LENGTH + 8], apart[2][LENGTH];

static void use(char *row)
{
    usleep(20000);
    row[LENGTH / 2]++;
}

/* The row below is sent next. */
static void receive_first(void)
{
    MPI_Recv(rows[1], LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* HELD all */
    MPI_Send(rows[0], LENGTH + 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    use(rows[1]);
    MPI_Recv(rows[1], LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* HELD overlapping_buffers */
    MPI_Send(rows[0], SHORT, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Send(rows[0] + LENGTH + 8 - SHORT, SHORT, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    use(rows[1]);
    MPI_Recv(apart[1], LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* HELD all */
    MPI_Send(apart[0], LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    use(apart[1]);
}

/* The row above is received into next. A run waits there once, and then sends copies. */
static void send_first(void)
{
    MPI_Send(rows[1], LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD); /* HELD all */
    MPI_Recv(rows[2], LENGTH + 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    use(rows[1]);
    MPI_Send(rows[1], LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(apart[0], SHORT, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(apart[0], SHORT, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(apart[1], LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD); /* HELD all */
    MPI_Recv(apart[0], LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    use(apart[1]);
}

int main(int argc, char **argv)
{
    int rank;
    int level; /* at this one edge pages are not watched */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            receive_first();
        else
            send_first();
    }
    MPI_Finalize();
    return 0;
}
