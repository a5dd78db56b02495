/* SPDX-License-Identifier: MIT */
/* Claim: a profile tells which messages would travel at once with those of the calls behind them, if calls returned
 * early. ROW says of a call's samples: all of their bytes, or none.
 * ranks: 2 */
#include <mpi.h>
#include <unistd.h>

enum { LENGTH = 100 << 10, ROUNDS = 5, DELAY_US = 5000 };

static _Alignas(4096) char in[2][LENGTH], out[2][LENGTH];
static MPI_Comm world;

static void use(char *buffer)
{
    buffer[LENGTH / 2]++;
}

static void receive_first(void)
{
    MPI_Recv(in[0], LENGTH, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE); /* ROW all */
    MPI_Send(out[0], LENGTH, MPI_CHAR, 1, 0, world);                   /* ROW none */
    use(in[0]);
    use(out[0]);
    MPI_Recv(in[0], LENGTH, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE); /* ROW none */
    MPI_Recv(in[1], LENGTH, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE);
    use(in[0]);
    MPI_Recv(in[1], LENGTH, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE); /* ROW none */
    use(in[1]);
    MPI_Send(out[1], LENGTH, MPI_CHAR, 1, 0, world);
    MPI_Recv(in[0], LENGTH, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE); /* ROW none */
    usleep(10 * DELAY_US);
    MPI_Send(out[0], LENGTH, MPI_CHAR, 1, 0, world);
    use(in[0]);
    MPI_Sendrecv(out[0], LENGTH, MPI_CHAR, MPI_PROC_NULL, 0, in[0], LENGTH, MPI_CHAR, 1, 0, world, /* ROW all */
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out[0], LENGTH, MPI_CHAR, 1, 0, in[1], LENGTH, MPI_CHAR, MPI_PROC_NULL, 0, world, /* ROW none */
                 MPI_STATUS_IGNORE);
    use(in[0]);
}

/* What rank 0 waits for comes late, so that its calls take longer than what lies between them. */
static void send_late(char *buffer)
{
    usleep(DELAY_US);
    MPI_Send(buffer, LENGTH, MPI_CHAR, 0, 0, world);
}

static void send_first(void)
{
    send_late(out[0]);
    MPI_Recv(in[0], LENGTH, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
    send_late(out[0]);
    send_late(out[1]);
    for (int i = 0; i < 3; i++) {
        send_late(out[0]);
        MPI_Recv(in[0], LENGTH, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
    }
}

/* Each call lets its own two messages cross, and the second one stands behind them. */
static void exchange(int peer)
{
    MPI_Sendrecv(out[0], LENGTH, MPI_CHAR, peer, 0, in[0], LENGTH, MPI_CHAR, peer, 0, world, /* ROW none */
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out[1], LENGTH, MPI_CHAR, peer, 0, in[1], LENGTH, MPI_CHAR, peer, 0, world, MPI_STATUS_IGNORE);
    use(in[0]);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            receive_first();
        else
            send_first();
        exchange(1 - rank);
    }
    MPI_Finalize();
    return 0;
}
