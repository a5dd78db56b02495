/* SPDX-License-Identifier: MIT */
/* Claim: where the engine only works by request, it does until what was touched is there: the end of the first block of
 * MPI_Allgather, while as much of the other blocks comes before it, or that and the end of the last block by another
 * thread.
 * defers: collective
 * flags: -pthread
 * arguments: alone beside
 * ranks: 2 3
 * quick: openmpi4 mpich4
 * environment: LAPWING_PROGRESS=manual LAPWING_LEARN=off */
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 3, LENGTH = 4 * CHECK_LARGE_BYTES, RANKS_MAX = 3 };

static unsigned char *received;
static unsigned round_now;

static void expect_last_of(int rank)
{
    size_t last = LENGTH - 1;
    check(received[(size_t)rank * LENGTH + last] == check_byte(last, round_now + (unsigned)rank), "the last byte");
}

static void *touch_last_block(void *unused)
{
    expect_last_of(check_size() - 1);
    return unused;
}

static void gather(unsigned char *sent, bool is_beside)
{
    pthread_t thread;
    check_fill(sent, LENGTH, round_now + (unsigned)check_rank());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(sent, LENGTH, MPI_BYTE, received, LENGTH, MPI_BYTE, MPI_COMM_WORLD);
    if (is_beside)
        pthread_create(&thread, NULL, touch_last_block, NULL);
    expect_last_of(0);
    if (is_beside)
        pthread_join(thread, NULL);
    for (int rank = 0; rank < check_size(); rank++)
        check(check_is_filled(received + (size_t)rank * LENGTH, LENGTH, round_now + (unsigned)rank), "the block");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *sent = check_buffer_new(LENGTH);
    received = check_buffer_new((size_t)RANKS_MAX * LENGTH);
    for (round_now = 0; round_now < ROUNDS; round_now++)
        gather(sent, strcmp(argv[argc - 1], "beside") == 0);
    return check_end();
}
