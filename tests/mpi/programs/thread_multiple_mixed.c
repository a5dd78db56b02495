/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE threads may block in sends, receives, exchanges, probes and
 * waits, each on its own communicator, while others touch received buffers.
 * flags: -pthread
 * timeout: 60 */
#include <pthread.h>

#include "check.h"

enum { LANES = 3, ROUNDS = 12, LENGTH = 300000 };

static MPI_Comm lanes[LANES];

static void exchange_blocking(MPI_Comm lane, int rank, unsigned char *buffer, unsigned seed)
{
    if (rank == 0) {
        check_fill(buffer, LENGTH, seed);
        MPI_Send(buffer, LENGTH, MPI_BYTE, 1, 0, lane);
        memset(buffer, 0, LENGTH);
    } else {
        MPI_Recv(buffer, LENGTH, MPI_BYTE, 0, 0, lane, MPI_STATUS_IGNORE);
        check(check_is_filled(buffer, LENGTH, seed), "a blocking receive");
    }
}

static void exchange_probed(MPI_Comm lane, int rank, unsigned char *buffer, unsigned seed)
{
    MPI_Message message;
    MPI_Status status;
    if (rank == 1) {
        check_fill(buffer, LENGTH, seed);
        MPI_Ssend(buffer, LENGTH, MPI_BYTE, 0, 1, lane);
        return;
    }
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, lane, &message, &status);
    MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, &status);
    check(check_is_filled(buffer, LENGTH, seed), "a matched receive");
}

static void exchange_nonblocking(MPI_Comm lane, int rank, unsigned char *buffer, unsigned seed)
{
    MPI_Request request;
    if (rank == 0) {
        check_fill(buffer, LENGTH, seed);
        MPI_Isend(buffer, LENGTH, MPI_BYTE, 1, 2, lane, &request);
    } else {
        MPI_Irecv(buffer, LENGTH, MPI_BYTE, 0, 2, lane, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LENGTH, seed), "a nonblocking one");
}

static void exchange_both_ways(MPI_Comm lane, int rank, unsigned char *out, unsigned char *in, unsigned seed)
{
    int peer = 1 - rank;
    check_fill(out, LENGTH, seed + rank);
    MPI_Sendrecv(out, LENGTH, MPI_BYTE, peer, 3, in, LENGTH, MPI_BYTE, peer, 3, lane, MPI_STATUS_IGNORE);
    check(check_is_filled(in, LENGTH, seed + peer), "an exchange");
}

static void *lane_run(void *number)
{
    unsigned lane_number = *(unsigned *)number;
    MPI_Comm lane = lanes[lane_number];
    unsigned char *buffer = check_buffer_new(LENGTH), *other = check_buffer_new(LENGTH);
    int rank;
    MPI_Comm_rank(lane, &rank);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned seed = 5 * (ROUNDS * lane_number + i);
        exchange_blocking(lane, rank, buffer, seed);
        exchange_probed(lane, rank, other, seed + 1);
        exchange_nonblocking(lane, rank, buffer, seed + 2);
        exchange_both_ways(lane, rank, buffer, other, seed + 3);
        MPI_Barrier(lane);
    }
    free(buffer);
    free(other);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned numbers[LANES];
    pthread_t threads[LANES];
    check_start_multiple(&argc, &argv);
    for (int i = 0; i < LANES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i]);
    for (unsigned i = 0; i < LANES; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, lane_run, &numbers[i]);
    }
    for (int i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
    return check_end();
}
