/* SPDX-License-Identifier: MIT */
#include "libc/stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/room.h"
#include "libc/signals.h"
#include "libc/thread_local.h"
#include "libc/threads.h"
#include "protect/memory.h"

enum { STACKS_MAX = 1024 };

/* A stack's low end is 0 while its slot is free; its thread writes the high end first, so that
 * a reader never sees half a range that it would take for free memory. key: without one no slot is ever given back.
 * unlisted: beyond the table, or where the kernel did not list the threads. */
static struct {
    struct {
        _Atomic uintptr_t low;
        _Atomic uintptr_t high;
        _Atomic pid_t id; /* of a thread that does not give its slot back itself; else 0 */
    } slots[STACKS_MAX];
    _Atomic uint32_t unlisted; /* threads that live and have no slot */
    _Atomic bool is_watching;  /* set by libc_stacks_watch(), never cleared */
    pthread_key_t key;         /* by libc_stacks_watch() */
    bool has_key;
    struct range first_variables; /* the first thread's thread-local ones; by the constructor, which runs in it */
} stacks;

/* Of a thread that has not told the kernel yet, or no longer, where its stack is: it may be anywhere. */
static const struct range unknown_stack = {1, UINTPTR_MAX};

/* The kernel knows where glibc's description of each thread is, by its list of robust mutexes, and glibc puts the
 * description on the stack's top (nptl/allocatestack.c). Its mapping is all the stack, or the larger memory that the
 * program made one in. Nothing is read there: the thread may be ending. */
static struct range stack_of_existing(pid_t id)
{
    void *description = NULL;
    size_t length_bytes;
    struct memory_mapping mapping;
    bool is_known = syscall(SYS_get_robust_list, id, &description, &length_bytes) == 0 && description != NULL;
    return is_known && memory_mapping_find((uintptr_t)description, &mapping) ? mapping.range : unknown_stack;
}

/* pthread_getattr_np() allocates, and thereby makes the thread a heap of its own (see thread_create.c). */
static struct range stack_of_this_thread(void)
{
    if (base_room_is_limited())
        return stack_of_existing((pid_t)syscall(SYS_gettid));
    pthread_attr_t attributes;
    void *low = NULL;
    size_t length_bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &length_bytes);
        pthread_attr_destroy(&attributes);
    }
    return base_range_of(low, length_bytes);
}

static int stack_enter(struct range stack, pid_t id)
{
    for (int i = 0; i < STACKS_MAX; i++) {
        uintptr_t unused = 0;
        /* claimed by its high end; published by its low end */
        if (atomic_compare_exchange_strong_explicit(&stacks.slots[i].high, &unused, stack.high, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&stacks.slots[i].id, id, memory_order_relaxed);
            atomic_store_explicit(&stacks.slots[i].low, stack.low, memory_order_release);
            return i;
        }
    }
    atomic_fetch_add_explicit(&stacks.unlisted, 1, memory_order_relaxed);
    return STACKS_MAX;
}

static void slot_clear(intptr_t i)
{
    atomic_store_explicit(&stacks.slots[i].low, 0, memory_order_release);
    atomic_store_explicit(&stacks.slots[i].high, 0, memory_order_release);
}

/* Of those who find that a slot with a thread's number has served its purpose, one clears it. relaxed: the number
 * guards nothing but this. */
static void slot_release(int i, pid_t id)
{
    if (atomic_compare_exchange_strong_explicit(&stacks.slots[i].id, &id, 0, memory_order_relaxed,
                                                memory_order_relaxed))
        slot_clear(i);
}

/* Runs when the thread ends in whatever way; `slot_plus_1` as it was set. */
static void stack_leave(void *slot_plus_1)
{
    intptr_t i = (intptr_t)slot_plus_1 - 1;
    if (i == STACKS_MAX)
        atomic_fetch_sub_explicit(&stacks.unlisted, 1, memory_order_relaxed);
    else
        slot_clear(i);
}

__attribute__((constructor(102))) static void stacks_start(void)
{
    libc_threads_own.is_entered = true; /* the first thread's stack grows: the kernel names it */
    stacks.first_variables = libc_thread_local_find();
}

void libc_stacks_enter(void)
{
    libc_threads_own.is_entered = true;
    libc_signals_open_thread(); /* its attributes may block signals (pthread_attr_setsigmask_np(3)) */
    int slot = stack_enter(stack_of_this_thread(), 0);
    if (stacks.has_key)
        pthread_setspecific(stacks.key, (void *)(intptr_t)(slot + 1));
}

static void thread_visit(const char *name, void *unused)
{
    (void)unused;
    pid_t id = (pid_t)strtol(name, NULL, 10);
    /* The first thread's stack has a name in the kernel's list. */
    if (id != (pid_t)syscall(SYS_gettid) && id != getpid() && !libc_threads_are_mpis(id))
        (void)stack_enter(stack_of_existing(id), id);
}

void libc_stacks_enter_existing(void)
{
    int folder = base_folder_open("/proc/self/task");
    if (folder < 0 || !base_folder_visit_numbers(folder, thread_visit, NULL))
        atomic_fetch_add_explicit(&stacks.unlisted, 1, memory_order_relaxed);
    if (folder >= 0)
        syscall(SYS_close, folder);
}

void libc_stacks_watch(void)
{
    stacks.has_key = pthread_key_create(&stacks.key, stack_leave) == 0;
    /* seq_cst: a thread made beside this is found in the folder, or its maker finds the flag after it. */
    atomic_store_explicit(&stacks.is_watching, true, memory_order_seq_cst);
    if (libc_threads_are_several())
        libc_stacks_enter_existing();
}

/* Looks again at a thread that may have begun to run, and so has said that it is MPI's or where its stack is. Entered
 * at its place before the slot of the unknown one is given back: two threads that look at once enter it twice. */
static struct range stack_learn(int i, pid_t id)
{
    struct range stack = libc_threads_are_mpis(id) ? (struct range){0, 0} : stack_of_existing(id);
    if (stack.high == unknown_stack.high)
        return stack;
    if (!base_range_is_empty(stack))
        (void)stack_enter(stack, id);
    slot_release(i, id);
    return stack;
}

static bool slot_contains(int i, struct range bytes)
{
    /* acquire: a low end seen here comes with its high end, and with the number. */
    uintptr_t low = atomic_load_explicit(&stacks.slots[i].low, memory_order_acquire);
    struct range stack = {low, atomic_load_explicit(&stacks.slots[i].high, memory_order_relaxed)};
    pid_t id = atomic_load_explicit(&stacks.slots[i].id, memory_order_relaxed);
    if (low == 0 || !base_ranges_overlap(stack, bytes))
        return false;
    if (!libc_threads_has_ended(getpid(), id))
        return stack.high != unknown_stack.high || base_ranges_overlap(stack_learn(i, id), bytes);
    slot_release(i, id);
    return false;
}

bool libc_stacks_contain(struct range bytes)
{
    if (base_ranges_overlap(stacks.first_variables, bytes))
        return true;
    if (!libc_threads_are_several())
        return false;
    if (!libc_threads_own.is_entered)
        libc_stacks_enter();
    for (int i = 0; i < STACKS_MAX; i++) {
        if (slot_contains(i, bytes))
            return true;
    }
    return atomic_load_explicit(&stacks.unlisted, memory_order_relaxed) != 0;
}

/* seq_cst: see libc_stacks_watch(). */
bool libc_stacks_are_watched(void)
{
    return atomic_load_explicit(&stacks.is_watching, memory_order_seq_cst);
}
