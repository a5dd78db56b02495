/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Relaxed: whichever function is seen, its code was there before. */
static _Atomic(base_clock_read_fn *) clock_read = clock_gettime;

void base_clock_read_by(base_clock_read_fn *function)
{
    atomic_store_explicit(&clock_read, function, memory_order_relaxed);
}

int64_t base_clock_cpu_ns(clockid_t clock)
{
    struct timespec time;
    if (atomic_load_explicit(&clock_read, memory_order_relaxed)(clock, &time) != 0)
        return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t base_clock_now_ns(void)
{
    return base_clock_cpu_ns(CLOCK_MONOTONIC);
}

int64_t base_clock_unix_ns(void)
{
    return base_clock_cpu_ns(CLOCK_REALTIME);
}

int64_t base_clock_thread_cpu_ns(void)
{
    return base_clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

void base_clock_pause(int64_t length_ns)
{
    const struct timespec pause = {.tv_nsec = length_ns};
    syscall(SYS_nanosleep, &pause, NULL);
}
