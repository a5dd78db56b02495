/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC (vDSO; safe in signal context). */
static inline int64_t base_clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Processor time of a thread of this process, by its clock (pthread_getcpuclockid); 0 when it has ended. */
static inline int64_t base_clock_cpu_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Processor time of the calling thread, nanoseconds. */
static inline int64_t base_clock_thread_cpu_ns(void)
{
    return base_clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
