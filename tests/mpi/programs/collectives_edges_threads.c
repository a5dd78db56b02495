/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE a collective whose buffer shares its edge pages with other data ends, whatever
 * another thread asks of MPI while it begins.
 * ranks: 2
 * quick: openmpi4 mpich4
 * timeout: 120 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

enum { COUNT = 131072, ROUNDS = 300, PAUSE_US = 300, NO_TAG = 77 };

static atomic_bool is_over;
static MPI_Comm beside;

static void *ask(void *unused)
{
    while (!atomic_load(&is_over)) {
        int is_there;
        MPI_Iprobe(MPI_ANY_SOURCE, NO_TAG, beside, &is_there, MPI_STATUS_IGNORE);
        usleep(PAUSE_US);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t asker;
    check_start_multiple(&argc, &argv);
    mallopt(M_MMAP_MAX, 0); /* the heap's own, between other blocks */
    uint32_t *sent = malloc(COUNT * sizeof(uint32_t));
    uint32_t *received = malloc(COUNT * sizeof(uint32_t));
    check(sent != NULL && received != NULL, "memory");
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    pthread_create(&asker, NULL, ask, NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            sent[i] = round + i;
        MPI_Allreduce(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
        for (uint32_t i = 0; i < COUNT; i++)
            check(received[i] == 2 * (round + i), "the sum");
    }
    atomic_store(&is_over, true);
    pthread_join(asker, NULL);
    MPI_Comm_free(&beside);
    return check_end();
}
