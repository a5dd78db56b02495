/* SPDX-License-Identifier: MIT */
#ifndef LIBC_TIMERS_H
#define LIBC_TIMERS_H

#include <signal.h>
#include <time.h>

typedef int libc_timers_create_fn(clockid_t clock, struct sigevent *event, timer_t *timer);

/* timer_create(), called by the code at `caller`. */
int libc_timers_create(clockid_t clock, struct sigevent *event, timer_t *timer, const void *caller,
                       libc_timers_create_fn *real);

#endif
