/* SPDX-License-Identifier: MIT */
/* Chooses the pair of ranks that a program measures: on one host, or on two.
 *
 * The program's first argument is `within` or `between`. The other ranks sleep. The first line of JSON says which pair
 * it is; null: there is none. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "measure.h"

enum { PAIR_NAME_BYTES = 64, PAIR_SENDER = 1, PAIR_RECEIVER = 2 };

struct pair {
    MPI_Comm communicator; /* of the two ranks: 0 sends, 1 receives */
    int side;              /* PAIR_SENDER or PAIR_RECEIVER */
};

typedef void pair_measure(struct pair *pair, int argc, char **argv);

/* Rank 0 and the first rank that is on the wanted side of the wall; -1: there is none. */
static inline int pair_find_peer(const char *names, int size, bool is_within)
{
    for (int i = 1; i < size; i++) {
        if ((strncmp(names, names + i * PAIR_NAME_BYTES, PAIR_NAME_BYTES) == 0) == is_within)
            return i;
    }
    return -1;
}

static inline void pair_print(const char *names, int size, int peer)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n\"\\")] = 0; /* MPICH goes on with pages about its compilers */
    for (char *tab = strchr(version, '\t'); tab; tab = strchr(tab, '\t'))
        *tab = ' ';
    printf("{\"library\": \"%s\", \"ranks\": %d, ", version, size);
    if (peer < 0)
        printf("\"pair\": null, \"hosts\": [\"%s\"]}\n", names);
    else
        printf("\"pair\": [0, %d], \"hosts\": [\"%s\", \"%s\"]}\n", peer, names, names + peer * PAIR_NAME_BYTES);
    fflush(stdout);
}

static inline void pair_split(const char *names, int argc, char **argv, pair_measure *measure)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = pair_find_peer(names, size, strcmp(argv[1], "within") == 0);
    bool is_in_pair = peer > 0 && (rank == 0 || rank == peer);
    struct pair pair = {.side = rank == 0 ? PAIR_SENDER : PAIR_RECEIVER};
    MPI_Comm_split(MPI_COMM_WORLD, is_in_pair ? 0 : 1, rank, &pair.communicator);
    if (rank == 0)
        pair_print(names, size, peer);
    if (is_in_pair)
        measure(&pair, argc, argv);
    MPI_Comm_free(&pair.communicator);
}

/* The whole of main(): the pair measures, the others sleep. */
static inline int pair_run(int argc, char **argv, int least_argc, pair_measure *measure)
{
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < least_argc)
        MPI_Abort(MPI_COMM_WORLD, 2);
    char name[PAIR_NAME_BYTES] = "";
    gethostname(name, sizeof(name) - 1);
    char *names = calloc((size_t)size, PAIR_NAME_BYTES);
    MPI_Allgather(name, PAIR_NAME_BYTES, MPI_CHAR, names, PAIR_NAME_BYTES, MPI_CHAR, MPI_COMM_WORLD);
    pair_split(names, argc, argv, measure);
    free(names);
    asleep_wait();
    MPI_Finalize();
    return 0;
}

#endif
