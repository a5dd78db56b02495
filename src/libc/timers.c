/* SPDX-License-Identifier: MIT */
/* Timers whose functions libc calls in threads of its own. It makes these with all signals blocked, which a touch of
 * held memory would not survive (glibc 2.36, timer_routines.c). */
#include "libc/timers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/gate.h"
#include "libc/signals.h"
#include "libc/threads.h"
#include "libc/use.h"

static void timer_run(union sigval given)
{
    libc_signals_open_thread(); /* before anything is read */
    gate_drop_rights();
    struct libc_threads_timed *timed = given.sival_ptr;
    /* relaxed: it was written before libc was told. */
    atomic_load_explicit(&timed->function, memory_order_relaxed)(timed->value);
}

/* What libc is told in place of this. Where there is no room: the same. */
static struct sigevent timer_event(const struct sigevent *event)
{
    struct sigevent told = *event;
    struct libc_threads_timed *timed = libc_threads_timed_of(event);
    if (timed == NULL)
        return told;
    told.sigev_notify_function = timer_run;
    told.sigev_value.sival_ptr = timed;
    return told;
}

static void timer_wait(const struct sigevent *event, const timer_t *timer)
{
    libc_use_drain();
    if (!protect_armed_is_any())
        return;
    libc_use_reads(event, sizeof *event);
    libc_use_writes(timer, sizeof(int)); /* the kernel's number */
}

/* The threads of MPI's own timers touch nothing of the program's. */
static bool timer_is_programs(const struct sigevent *event)
{
    bool begins_threads = event != NULL && event->sigev_notify == SIGEV_THREAD;
    return begins_threads && libc_use_is_programs();
}

int libc_timers_create(clockid_t clock, struct sigevent *event, timer_t *timer, const void *caller,
                       libc_timers_create_fn *real)
{
    timer_wait(event, timer);
    if (!timer_is_programs(event))
        return real(clock, event, timer);
    libc_threads_note_begun((uintptr_t)caller);
    struct sigevent told = timer_event(event);
    return real(clock, &told, timer);
}
