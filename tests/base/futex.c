/* SPDX-License-Identifier: MIT */
/* Claim: a futex wait ends at a wake, at its timeout, or at once when the word changed before, and keeps errno. */
#include <errno.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/futex.h"
#include "claim.h"

static _Atomic uint32_t word;

static void *waker_run(void *unused)
{
    (void)unused;
    atomic_store_explicit(&word, 1, memory_order_release); /* read by the waiter's acquire */
    base_futex_wake(&word, 1);
    return NULL;
}

static void timeout_check(void)
{
    int64_t begin_ns = base_clock_now_ns();
    errno = EDOM;
    base_futex_wait(&word, 0, 20 * 1000 * 1000);
    claim(errno == EDOM, "errno is the caller's");
    claim(base_clock_now_ns() - begin_ns >= 19 * 1000 * 1000, "the wait lasts until its timeout");
}

static void changed_check(void)
{
    int64_t begin_ns = base_clock_now_ns();
    base_futex_wait(&word, 7, 5 * 1000000000LL);
    claim(base_clock_now_ns() - begin_ns < 1000000000, "a word that differs is not waited for");
}

int main(void)
{
    pthread_t waker;
    timeout_check();
    changed_check();
    pthread_create(&waker, NULL, waker_run, NULL);
    while (atomic_load_explicit(&word, memory_order_acquire) == 0)
        base_futex_wait(&word, 0, -1);
    pthread_join(waker, NULL);
    return 0;
}
