/* SPDX-License-Identifier: MIT */
/* Times, in nanoseconds. All are safe in signal context (vDSO). */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Of CLOCK_MONOTONIC. */
int64_t base_clock_now_ns(void);

/* Since 1970, of CLOCK_REALTIME. */
int64_t base_clock_unix_ns(void);

/* Processor time of a thread of this process, by its clock (pthread_getcpuclockid); 0 when it has ended. */
int64_t base_clock_cpu_ns(clockid_t clock);

/* Processor time of the calling thread. */
int64_t base_clock_thread_cpu_ns(void);

/* Sleeps for less than a second; a signal ends it sooner. By a system call of its own: safe where libc's locks may be
 * held. */
void base_clock_pause(int64_t length_ns);

/* From now on clocks are read by libc's own function, past the entry of its name. Once it is known, at start. */
typedef int base_clock_read_fn(clockid_t clock, struct timespec *time);
void base_clock_read_by(base_clock_read_fn *function);

#endif
