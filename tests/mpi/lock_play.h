/* SPDX-License-Identifier: MIT */
/* Rank 0 uses its buffers under a lock. Its peer, rank 1, begins only when another thread of rank 0 has told it so,
 * which needs that lock first. */
#ifndef LOCK_PLAY_H
#define LOCK_PLAY_H

#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LOCK_PLAY_BYTES = 24 << 20, LOCK_PLAY_SMALL_BYTES = 4 << 20, LOCK_PLAY_ROUNDS = 3, LOCK_PLAY_LATER_US = 50000 };

/* tell: by rank 0's other thread, with the lock. be_told: by rank 1, which waits. communicate: in the way that the
 * program's argument names; then it uses the first buffer under the lock. length: of this time; there is room for more.
 */
struct lock_play {
    const char *way;
    void (*tell)(const struct lock_play *play);
    void (*be_told)(void);
    void (*communicate)(const struct lock_play *play);
    unsigned char *buffer;
    unsigned char *other;
    int length;
};

static pthread_mutex_t lock_play_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void *lock_play_tell(void *argument)
{
    const struct lock_play *play = argument;
    usleep(LOCK_PLAY_LATER_US);
    pthread_mutex_lock(&lock_play_lock);
    play->tell(play);
    pthread_mutex_unlock(&lock_play_lock);
    return NULL;
}

static inline void lock_play_touch(unsigned char *buffer, size_t length)
{
    pthread_mutex_lock(&lock_play_lock);
    for (size_t at = 0; at < length; at += length / 8)
        buffer[at]++;
    pthread_mutex_unlock(&lock_play_lock);
}

/* An exchange, a broadcast or a reduction. */
static inline void lock_play_both_ways(const struct lock_play *play)
{
    int peer = 1 - check_rank();
    if (strcmp(play->way, "exchange") == 0)
        MPI_Sendrecv(play->buffer, play->length, MPI_BYTE, peer, 0, play->other, play->length, MPI_BYTE, peer, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(play->way, "broadcast") == 0)
        MPI_Bcast(play->buffer, play->length, MPI_BYTE, 1, MPI_COMM_WORLD);
    else
        MPI_Allreduce(play->buffer, play->other, play->length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static inline void lock_play_once(struct lock_play *play, int length)
{
    pthread_t thread;
    play->length = length;
    if (check_rank() == 0)
        check(pthread_create(&thread, NULL, lock_play_tell, play) == 0, "a thread begins");
    else
        play->be_told();
    play->communicate(play);
    lock_play_touch(play->other, (size_t)length);
    if (check_rank() == 0)
        pthread_join(thread, NULL);
}

static inline void lock_play(struct lock_play *play)
{
    play->buffer = check_buffer_new(LOCK_PLAY_BYTES);
    play->other = check_buffer_new(LOCK_PLAY_BYTES);
    for (int round = 0; round < LOCK_PLAY_ROUNDS; round++) {
        lock_play_once(play, LOCK_PLAY_SMALL_BYTES);
        lock_play_once(play, LOCK_PLAY_BYTES);
    }
}

#endif
