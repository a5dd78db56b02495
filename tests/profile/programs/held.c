/* SPDX-License-Identifier: MIT */
/* Claim: a profile foresees which calls a run could let return early. HELD says of a call's samples: all, or none and
 * why not.
 * ranks: 2 */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 100 << 10, COUNT = LENGTH / sizeof(int), ROUNDS = 5 };

static int wholes[COUNT];
static _Alignas(4096) int adjoining[2 * COUNT];

/* Among others of its kind: libc maps larger blocks alone. */
static void *heap_block(void)
{
    void *before = malloc(LENGTH);
    void *block = malloc(LENGTH);
    void *after = malloc(LENGTH);
    return before != NULL && after != NULL ? block : NULL;
}

static void receive(void *beside, void *alone)
{
    char stack[LENGTH];
    MPI_Recv(beside, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* HELD memory_neighbours */
    MPI_Recv(alone, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* HELD all */
    MPI_Recv(stack, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* HELD memory_stack */
}

/* What cannot be held may be copied. */
static void send(void *beside, void *alone)
{
    char stack[LENGTH] = {0};
    MPI_Send(beside, COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD); /* HELD all */
    MPI_Send(alone, COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD);  /* HELD all */
    MPI_Send(stack, COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD);  /* HELD all */
}

/* One op would hold their common page for both. Of two messages the one that is sent goes from a copy. */
static void exchange(int peer)
{
    int *in = adjoining;
    int *out = adjoining + COUNT - 1;
    int count = COUNT - 1;
    MPI_Status *none = MPI_STATUS_IGNORE;
    MPI_Allreduce(out + 1, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* HELD all */
    MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);     /* HELD overlapping_buffers */
    MPI_Sendrecv(out, count, MPI_INT, peer, 0, in, count, MPI_INT, peer, 0, MPI_COMM_WORLD, none); /* HELD all */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *beside = heap_block();
    void *alone = aligned_alloc(4096, LENGTH);
    if (beside == NULL || alone == NULL)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            send(beside, alone);
        else
            receive(beside, alone);
        MPI_Allreduce(wholes, beside, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* HELD memory_neighbours */
        MPI_Allreduce(wholes, alone, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  /* HELD all */
        exchange(1 - rank);
    }
    MPI_Finalize();
    return 0;
}
