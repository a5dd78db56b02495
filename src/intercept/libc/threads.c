/* SPDX-License-Identifier: MIT */
/* A program with one thread cannot race with its own hold, and holds are cheaper
 * then (protect_threads_set). */
#include "intercept/libc/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"
#include "engine/gate.h"
#include "intercept/libc/real.h"
#include "protect/protect.h"

enum { STACKS_MAX = 1024 };

typedef void *thread_start_fn(void *argument);

struct thread_start {
    thread_start_fn *start;
    void *argument;
};

/* are_several: set before the second thread exists, never cleared. A stack's low
 * end is 0 while its slot is free; its thread writes the high end first, so that
 * a reader never sees half a range that it would take for free memory. */
static _Atomic bool are_several;
static _Atomic bool are_too_many;
static struct {
    _Atomic uintptr_t low;
    _Atomic uintptr_t high;
} stacks[STACKS_MAX];

bool libc_threads_are_several(void)
{
    return atomic_load_explicit(&are_several, memory_order_relaxed);
}

void libc_threads_note(void)
{
    atomic_store_explicit(&are_several, true, memory_order_relaxed);
    protect_threads_set(true);
}

bool libc_threads_own_stack(struct range bytes)
{
    if (!libc_threads_are_several())
        return false;
    for (int i = 0; i < STACKS_MAX; i++) {
        /* acquire: a low end seen here comes with its high end. */
        struct range stack = {atomic_load_explicit(&stacks[i].low, memory_order_acquire),
                              atomic_load_explicit(&stacks[i].high, memory_order_relaxed)};
        if (stack.low != 0 && base_ranges_overlap(stack, bytes))
            return true;
    }
    return atomic_load_explicit(&are_too_many, memory_order_relaxed);
}

static struct range stack_of_this_thread(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t length_bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &length_bytes);
        pthread_attr_destroy(&attributes);
    }
    return base_range_of(low, length_bytes);
}

static int stack_enter(struct range stack)
{
    for (int i = 0; i < STACKS_MAX; i++) {
        uintptr_t unused = 0;
        /* claimed by its high end; published by its low end */
        if (atomic_compare_exchange_strong_explicit(&stacks[i].high, &unused, stack.high, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&stacks[i].low, stack.low, memory_order_release);
            return i;
        }
    }
    atomic_store_explicit(&are_too_many, true, memory_order_relaxed);
    return STACKS_MAX;
}

/* Runs when the thread ends in whatever way; `slot_plus_1` as it was set. */
static void stack_leave(void *slot_plus_1)
{
    intptr_t i = (intptr_t)slot_plus_1 - 1;
    atomic_store_explicit(&stacks[i].low, 0, memory_order_release);
    atomic_store_explicit(&stacks[i].high, 0, memory_order_release);
}

static pthread_key_t stack_key; /* by the constructor; without a key no slot is ever given back */
static bool has_key;

__attribute__((constructor(102))) static void stack_key_make(void)
{
    has_key = pthread_key_create(&stack_key, stack_leave) == 0;
}

/* First in every thread of the program. */
static void *thread_run(void *given)
{
    struct thread_start thread = *(struct thread_start *)given;
    free(given);
    int slot = stack_enter(stack_of_this_thread());
    if (has_key && slot < STACKS_MAX)
        pthread_setspecific(stack_key, (void *)(intptr_t)(slot + 1));
    return thread.start(thread.argument);
}

static int thread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start, void *argument)
{
    struct thread_start *given = malloc(sizeof *given);
    if (given == NULL)
        return libc_real()->pthread_create(thread, attributes, start, argument);
    *given = (struct thread_start){start, argument};
    int error = libc_real()->pthread_create(thread, attributes, thread_run, given);
    if (error != 0)
        free(given);
    return error;
}

/* MPI's own threads leave signals to the program's: while the program's thread
 * defers them (gate.h), the kernel would give them to one of these, on whose stack
 * no handler of the program expects to run. */
static int thread_create_deaf(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument)
{
    uint64_t most = base_signals_deferrable();
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &most, &before, BASE_SIGNAL_SET_BYTES);
    int error = libc_real()->pthread_create(thread, attributes, start, argument);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, BASE_SIGNAL_SET_BYTES);
    return error;
}

int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument) LIBC_ENTRY(pthread_create);
int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument)
{
    if (gate_is_inside())
        return thread_create_deaf(thread, attributes, start, argument);
    libc_threads_note();
    return thread_create(thread, attributes, start, argument);
}
