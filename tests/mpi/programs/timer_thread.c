/* SPDX-License-Identifier: MIT */
/* Claim: the functions of timers, which libc calls in threads of its own with all signals blocked, may read what is
 * being received, whether the timer was made before MPI_Init, before the receive or after it.
 * flags: -pthread
 * defers: receive
 * environment: LAPWING_MATCH=off
 * timeout: 60
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { TIMERS = 3, ROUNDS = 4 };

/* seen: a byte of the message; negative: nothing yet. */
static struct watcher {
    timer_t timer;
    unsigned char *buffer;
    atomic_int seen;
} watchers[TIMERS];

static void look(union sigval value)
{
    struct watcher *watcher = value.sival_ptr;
    atomic_store(&watcher->seen, watcher->buffer[CHECK_LARGE_BYTES - 1]);
}

/* Another function with the same value. */
static void look_at_first(union sigval value)
{
    struct watcher *watcher = value.sival_ptr;
    atomic_store(&watcher->seen, watcher->buffer[0]);
}

static void make(int i, void (*function)(union sigval))
{
    struct watcher *watcher = &watchers[i];
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = function, .sigev_value.sival_ptr = watcher};
    check(timer_create(CLOCK_MONOTONIC, &event, &watcher->timer) == 0, "a timer");
}

static unsigned char seen_by(int i)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    atomic_store(&watchers[i].seen, -1);
    timer_settime(watchers[i].timer, 0, &soon, NULL);
    while (atomic_load(&watchers[i].seen) < 0)
        usleep(1000);
    return (unsigned char)atomic_load(&watchers[i].seen);
}

static void receive_and_look(int round, int i)
{
    check_recv(watchers[i].buffer, CHECK_LARGE_BYTES, 1, i);
    if (i == TIMERS - 1)
        make(i, round % 2 ? look_at_first : look);
    size_t place = i == TIMERS - 1 && round % 2 ? 0 : CHECK_LARGE_BYTES - 1;
    check(seen_by(i) == check_byte(place, (unsigned)round), "the message");
    if (i == TIMERS - 1)
        timer_delete(watchers[i].timer);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < TIMERS; i++)
        watchers[i].buffer = check_buffer_new(CHECK_LARGE_BYTES);
    make(0, look);
    check_start(&argc, &argv);
    make(1, look);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < TIMERS; i++) {
            if (check_rank() == 0)
                receive_and_look(round, i);
            else
                check_send_late(watchers[i].buffer, CHECK_LARGE_BYTES, (unsigned)round, 0, i);
        }
    }
    return check_end();
}
