/* SPDX-License-Identifier: MIT */
/* exchange [EXIT_CODE [SECONDS]]: large messages go round all ranks while each works, and all gather what all have;
 * each rank checks all bytes, says whether Lapwing is in its process, and ends with this code, after so many seconds.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 1 << 20, ROUNDS = 5, ALIGNMENT = 4096 };

static bool process_has_lapwing(void)
{
    char line[4096];
    bool has = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        has = has || strstr(line, "liblapwing") != NULL;
    if (maps != NULL)
        fclose(maps);
    return has;
}

static void exchange(unsigned char *mine, unsigned char *theirs, int rank, int size, int round)
{
    int next = (rank + 1) % size;
    int before = (rank + size - 1) % size;
    memset(mine, rank + round, LENGTH);
    if (rank % 2 == 0) {
        MPI_Send(mine, LENGTH, MPI_BYTE, next, round, MPI_COMM_WORLD);
        MPI_Recv(theirs, LENGTH, MPI_BYTE, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(theirs, LENGTH, MPI_BYTE, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(mine, LENGTH, MPI_BYTE, next, round, MPI_COMM_WORLD);
    }
    for (int i = 0; i < LENGTH; i++)
        if (theirs[i] != (unsigned char)(before + round))
            MPI_Abort(MPI_COMM_WORLD, 9);
}

static void gather(unsigned char *mine, int rank, int size, int round)
{
    unsigned char *all = aligned_alloc(ALIGNMENT, (size_t)size * LENGTH);
    memset(mine, rank + round, LENGTH);
    MPI_Allgather(mine, LENGTH, MPI_BYTE, all, LENGTH, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size * LENGTH; i++)
        if (all[i] != (unsigned char)(i / LENGTH + round))
            MPI_Abort(MPI_COMM_WORLD, 9);
    free(all);
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    char host[MPI_MAX_PROCESSOR_NAME];
    const char *mark = getenv("MARK");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    unsigned char *mine = aligned_alloc(ALIGNMENT, LENGTH);
    unsigned char *theirs = aligned_alloc(ALIGNMENT, LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        exchange(mine, theirs, rank, size, round);
        gather(mine, rank, size, round);
    }
    printf("rank %d of %d on %s, Lapwing %s, mark %s\n", rank, size, host, process_has_lapwing() ? "in" : "out",
           mark == NULL ? "none" : mark);
    fflush(stdout);
    if (argc > 2)
        sleep((unsigned)atoi(argv[2]));
    free(mine);
    free(theirs);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
