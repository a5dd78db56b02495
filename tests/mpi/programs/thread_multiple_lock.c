/* SPDX-License-Identifier: MIT */
/* Claim: a thread that uses its buffer under a lock does not wait there for a peer that needs the call of another
 * thread first, which takes the same lock: with MPI alone the call has waited, before the lock was taken.
 * arguments: send exchange broadcast reduce
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 24 << 20, SMALL = 4 << 20, ROUNDS = 3, LATER_US = 50000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm beside;

/* The call that the peer waits for. */
static void *signal_peer(void *unused)
{
    usleep(LATER_US);
    pthread_mutex_lock(&lock);
    MPI_Send(&(char){0}, 1, MPI_BYTE, 1, 1, beside);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void touch(unsigned char *buffer, size_t length)
{
    pthread_mutex_lock(&lock);
    for (size_t at = 0; at < length; at += length / 8)
        buffer[at]++;
    pthread_mutex_unlock(&lock);
}

static void communicate(const char *way, unsigned char *buffer, unsigned char *other, int length)
{
    int peer = 1 - check_rank();
    if (strcmp(way, "send") == 0 && peer == 1)
        check_send(buffer, length, peer, 0);
    else if (strcmp(way, "send") == 0)
        check_recv(buffer, length, peer, 0);
    else if (strcmp(way, "exchange") == 0)
        MPI_Sendrecv(buffer, length, MPI_BYTE, peer, 0, other, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else if (strcmp(way, "broadcast") == 0)
        MPI_Bcast(buffer, length, MPI_BYTE, 1, MPI_COMM_WORLD);
    else
        MPI_Allreduce(buffer, other, length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void play(const char *way, unsigned char *buffer, unsigned char *other, int length)
{
    pthread_t thread;
    if (check_rank() == 0)
        check(pthread_create(&thread, NULL, signal_peer, NULL) == 0, "a thread begins");
    else
        MPI_Recv(&(char){0}, 1, MPI_BYTE, 0, 1, beside, MPI_STATUS_IGNORE);
    communicate(way, buffer, other, length);
    touch(buffer, (size_t)length);
    touch(other, (size_t)length);
    if (check_rank() == 0)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    const char *way = argc > 1 ? argv[1] : "send";
    unsigned char *buffer = check_buffer_new(LENGTH), *other = check_buffer_new(LENGTH);
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    for (int round = 0; round < ROUNDS; round++) {
        play(way, buffer, other, SMALL);
        play(way, buffer, other, LENGTH);
    }
    MPI_Comm_free(&beside);
    return check_end();
}
