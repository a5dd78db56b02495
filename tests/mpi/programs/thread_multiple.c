/* SPDX-License-Identifier: MIT */
/* Claim: two threads that communicate at once, each on its own communicator, keep their messages apart.
 * flags: -pthread */
#include <pthread.h>

#include "check.h"

static MPI_Comm lanes[2];

static void *lane_run(void *lane_number)
{
    int lane = *(int *)lane_number, rank = check_rank(), peer = 1 - rank;
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned i = 0; i < 20; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 4 * i + 2 * lane + rank);
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, lanes[lane],
                     MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 4 * i + 2 * lane + peer), "this lane's message");
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, lane_run, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return check_end();
}
