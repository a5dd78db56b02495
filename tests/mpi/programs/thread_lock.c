/* SPDX-License-Identifier: MIT */
/* Claim: below MPI_THREAD_MULTIPLE, too, a thread that uses its buffer under a lock does not wait there for a peer that
 * waits for another thread, which takes that lock before it tells the peer so past MPI. Nor does that thread wait where
 * it uses what lies beside the buffer.
 * arguments: receive nonblocking send isend waitany exchange broadcast reduce beside
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 24 << 20, SMALL = 4 << 20, ROUNDS = 3, LATER_US = 50000, BESIDE_BYTES = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends;
static unsigned char *used_beside;

/* What the peer waits for. */
static void *tell_peer(void *unused)
{
    usleep(LATER_US);
    pthread_mutex_lock(&lock);
    *used_beside += 1;
    check(write(ends, "", 1) == 1, "the peer is told");
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

static void receive_by_wait(unsigned char *buffer, int length, int peer)
{
    MPI_Request request;
    MPI_Irecv(buffer, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_by_wait(const char *way, unsigned char *buffer, int length, int peer)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index;
    MPI_Isend(buffer, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    if (strcmp(way, "waitany") == 0)
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static bool way_is_waited_for(const char *way)
{
    return strcmp(way, "isend") == 0 || strcmp(way, "waitany") == 0;
}

static void communicate_one_way(const char *way, unsigned char *buffer, int length)
{
    bool is_sender = (strcmp(way, "send") == 0 || way_is_waited_for(way)) == (check_rank() == 0);
    if (is_sender && way_is_waited_for(way))
        send_by_wait(way, buffer, length, 1 - check_rank());
    else if (is_sender)
        check_send(buffer, length, 1 - check_rank(), 0);
    else if (strcmp(way, "nonblocking") == 0)
        receive_by_wait(buffer, length, 1 - check_rank());
    else
        check_recv(buffer, length, 1 - check_rank(), 0);
}

static void communicate(const char *way, unsigned char *buffer, unsigned char *other, int length)
{
    int peer = 1 - check_rank();
    if (strcmp(way, "exchange") == 0)
        MPI_Sendrecv(buffer, length, MPI_BYTE, peer, 0, other, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else if (strcmp(way, "broadcast") == 0)
        MPI_Bcast(buffer, length, MPI_BYTE, 1, MPI_COMM_WORLD);
    else if (strcmp(way, "reduce") == 0)
        MPI_Allreduce(buffer, other, length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    else
        communicate_one_way(way, buffer, length);
}

static void play(const char *way, unsigned char *buffer, unsigned char *other, int length)
{
    bool is_beside = strcmp(way, "beside") == 0;
    used_beside = is_beside ? buffer + length - BESIDE_BYTES : &(unsigned char){0};
    pthread_t thread;
    if (check_rank() == 0)
        check(pthread_create(&thread, NULL, tell_peer, NULL) == 0, "a thread begins");
    else
        check(read(ends, &(char){0}, 1) == 1, "this rank is told");
    communicate(way, buffer, other, length - BESIDE_BYTES * is_beside);
    if (!is_beside)
        touch(buffer, (size_t)length);
    touch(other, (size_t)length);
    if (check_rank() == 0)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const char *way = argc > 1 ? argv[1] : "receive";
    unsigned char *buffer = check_buffer_new(LENGTH + BESIDE_BYTES), *other = check_buffer_new(LENGTH);
    ends = check_pipe();
    for (int round = 0; round < ROUNDS; round++) {
        play(way, buffer, other, SMALL);
        play(way, buffer, other, LENGTH);
    }
    return check_end();
}
