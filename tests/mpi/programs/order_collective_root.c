/* SPDX-License-Identifier: MIT */
/* Claim: a rank that gets no other's data from a collective goes on before the others come.
 * ranks: 3
 * arguments: scatter scatterv scan exscan
 * quick: userfaultfd-user signal-1
 * timeout: 60 */
#include <stdlib.h>

#include "check.h"

enum { ROOT, LATE, WITNESS };
enum { COUNT = 1 << 18, ROUNDS = 6, NEWS = 1, GO = 2 };

static const double PATIENCE_S = 2;
static const char *way;
static MPI_Comm pair; /* ROOT and LATE */

static void meet(int *in, int *out)
{
    int counts[2] = {COUNT, COUNT}, places[2] = {0, COUNT};
    if (strcmp(way, "scatter") == 0)
        MPI_Scatter(in, COUNT, MPI_INT, out, COUNT, MPI_INT, ROOT, pair);
    else if (strcmp(way, "scatterv") == 0)
        MPI_Scatterv(in, counts, places, MPI_INT, out, COUNT, MPI_INT, ROOT, pair);
    else if (strcmp(way, "scan") == 0)
        MPI_Scan(in, out, COUNT, MPI_INT, MPI_MAX, pair);
    else
        MPI_Exscan(in, out, COUNT, MPI_INT, MPI_MAX, pair);
}

/* The root's news come by the witness. Stock MPI may wait in the collective, so that there are none. */
static bool is_told_in_time(void)
{
    double begin = MPI_Wtime();
    int is_there = 0;
    while (!is_there && MPI_Wtime() - begin < PATIENCE_S)
        MPI_Iprobe(WITNESS, GO, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    return is_there != 0;
}

int main(int argc, char **argv)
{
    int news = 0;
    check_start(&argc, &argv);
    way = argv[1];
    int *in = (int *)check_buffer_new(2L * COUNT * sizeof(int)), *out = (int *)check_buffer_new(COUNT * sizeof(int));
    MPI_Comm_split(MPI_COMM_WORLD, check_rank() == WITNESS, check_rank(), &pair);
    for (int round = 0; round < ROUNDS && check_rank() != WITNESS; round++)
        meet(in, out);
    MPI_Barrier(MPI_COMM_WORLD);
    bool is_early = check_rank() != LATE || is_told_in_time() || getenv("LAPWING_LEARN") == NULL;
    check(is_early, "the root goes on before the other comes");
    if (check_rank() != WITNESS)
        meet(in, out);
    if (check_rank() == ROOT)
        MPI_Send(&news, 1, MPI_INT, WITNESS, NEWS, MPI_COMM_WORLD);
    if (check_rank() == WITNESS) {
        MPI_Recv(&news, 1, MPI_INT, ROOT, NEWS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&news, 1, MPI_INT, LATE, GO, MPI_COMM_WORLD);
    }
    if (check_rank() == LATE)
        MPI_Recv(&news, 1, MPI_INT, WITNESS, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&pair);
    return check_end();
}
