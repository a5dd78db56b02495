/* SPDX-License-Identifier: MIT */
/* Claim: all ranks find out in MPI_Init whether each of them has this Lapwing with these options, or none does, and the
 * program receives nothing but its own messages, whichever rank has no Lapwing, or another.
 * arguments: all first middle last first_differs last_differs
 * agrees: all
 * ranks: 4
 * records: none */
#include <unistd.h>

#include "check.h"

enum { RANKS = 4, LOOKS = 200, TAG = 5 };

static const char started_again[] = "CHECK_IS_STARTED_AGAIN";

/* Before MPI_Init: by what the launcher says. */
static int rank_of_environment(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (getenv(names[i]) != NULL)
            return atoi(getenv(names[i]));
    }
    return -1;
}

/* The rank that is to be unlike the others; -1: none. */
static int rank_of_way(const char *way)
{
    if (strcmp(way, "middle") == 0)
        return 1;
    if (strncmp(way, "last", 4) == 0)
        return RANKS - 1;
    return strncmp(way, "first", 5) == 0 ? 0 : -1;
}

static void start_again(char **argv)
{
    setenv(started_again, "", 1);
    if (strstr(argv[1], "differs") != NULL)
        setenv("LAPWING_THRESHOLD", "12345", 1);
    else
        unsetenv("LD_PRELOAD");
    execv("/proc/self/exe", argv);
    check(false, "the program starts again");
}

/* Nobody has sent anything yet. */
static void look_for_nothing(void)
{
    int is_found;
    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_found, MPI_STATUS_IGNORE);
        check(!is_found, "no message but the program's own");
        usleep(100);
    }
}

static void receive_from_any(void)
{
    int rank = check_rank(), got = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % RANKS, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    int left = (rank + RANKS - 1) % RANKS;
    check(got == left && status.MPI_SOURCE == left && status.MPI_TAG == TAG, "the left neighbour's message");
}

static void collect(void)
{
    int sum, rank = check_rank(), of_root = rank == 1 ? 77 : 0, all[RANKS];
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&of_root, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    check(sum == RANKS * (RANKS - 1) / 2 && of_root == 77, "a sum and what the root has");
    for (int i = 0; i < RANKS; i++)
        check(all[i] == i, "what all have");
}

int main(int argc, char **argv)
{
    check(argc == 2, "a way");
    if (rank_of_way(argv[1]) == rank_of_environment() && getenv(started_again) == NULL)
        start_again(argv);
    MPI_Init(&argc, &argv);
    check(check_size() == RANKS, "four ranks");
    look_for_nothing();
    MPI_Barrier(MPI_COMM_WORLD);
    receive_from_any();
    collect();
    MPI_Barrier(MPI_COMM_WORLD);
    look_for_nothing();
    return check_end();
}
