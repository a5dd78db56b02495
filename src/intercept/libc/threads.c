/* SPDX-License-Identifier: MIT */
/* A program with one thread cannot race with its own hold, and holds are cheaper
 * then (protect_threads_set). */
#include "intercept/libc/threads.h"

#include <pthread.h>
#include <stdatomic.h>

#include "engine/gate.h"
#include "intercept/libc/real.h"
#include "protect/protect.h"

/* Set before the second thread exists, never cleared. */
static _Atomic bool are_several;

bool libc_threads_are_several(void)
{
    return atomic_load_explicit(&are_several, memory_order_relaxed);
}

typedef void *thread_start_fn(void *argument);

int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument) LIBC_ENTRY(pthread_create);
int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument)
{
    if (!gate_is_inside()) {
        atomic_store_explicit(&are_several, true, memory_order_relaxed);
        protect_threads_set(true);
    }
    return libc_real()->pthread_create(thread, attributes, start, argument);
}
