/* SPDX-License-Identifier: MIT */
#include "libc/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/gate.h"
#include "libc/program_code.h"
#include "op/session.h"
#include "protect/protect.h"

enum { OF_MPI_MAX = 64, TIMED_MAX = 256 };

/* are_started: set by the constructor. are_several: set before the second thread exists, never cleared. code: the
 * program's, by libc_threads_watch(). expected: the first thread, and all that MPI and the engine ever began.
 * starts_read: what threads that have begun were given; pushed by them, taken as a whole by who makes one.
 * timed: each written once, by who makes a timer and has taken its number. */
static struct {
    bool are_started;
    _Atomic bool are_several;
    struct libc_program_code code;
    _Atomic uint32_t expected;
    _Atomic uint32_t of_mpi_number;
    _Atomic pid_t of_mpi_ids[OF_MPI_MAX]; /* each written by its thread, once; 0 before */
    _Atomic(struct libc_threads_start *) starts_read;
    _Atomic uint32_t timed_number;
    struct libc_threads_timed timed[TIMED_MAX];
} threads = {.expected = 1};
_Thread_local struct libc_threads_own libc_threads_own;

__attribute__((constructor(102))) static void threads_start(void)
{
    threads.are_started = true;
}

bool libc_threads_are_started(void)
{
    return threads.are_started;
}

bool libc_threads_are_several(void)
{
    return atomic_load_explicit(&threads.are_several, memory_order_relaxed);
}

static void threads_note_several(void)
{
    atomic_store_explicit(&threads.are_several, true, memory_order_relaxed);
    protect_threads_set(true);
}

void libc_threads_note(void)
{
    session_meet_unknown_thread();
    threads_note_several();
}

void libc_threads_note_begun(uintptr_t code)
{
    session_meet_thread(code);
    threads_note_several();
}

void libc_threads_watch(void)
{
    libc_program_code_collect(&threads.code);
}

bool libc_threads_begin_in_program(uintptr_t code)
{
    return libc_program_code_contains(&threads.code, code);
}

static void starts_free(struct libc_threads_start *given)
{
    while (given != NULL) {
        struct libc_threads_start *next = given->next;
        free(given);
        given = next;
    }
}

struct libc_threads_start *libc_threads_start_new(void)
{
    /* acquire: their threads have read them. */
    struct libc_threads_start *given = atomic_exchange_explicit(&threads.starts_read, NULL, memory_order_acquire);
    if (given == NULL)
        return malloc(sizeof *given);
    starts_free(given->next);
    return given;
}

void libc_threads_start_give_back(struct libc_threads_start *given)
{
    given->next = atomic_load_explicit(&threads.starts_read, memory_order_relaxed);
    /* release: see libc_threads_start_new(). */
    while (!atomic_compare_exchange_weak_explicit(&threads.starts_read, &given->next, given, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

static bool timed_is_of(struct libc_threads_timed *timed, const struct sigevent *event)
{
    /* acquire: who wrote the function has written the value. */
    libc_threads_timed_fn *function = atomic_load_explicit(&timed->function, memory_order_acquire);
    return function == event->sigev_notify_function && timed->value.sival_ptr == event->sigev_value.sival_ptr;
}

/* Two at once may make the same. */
static struct libc_threads_timed *timed_new(const struct sigevent *event)
{
    uint32_t number = atomic_fetch_add_explicit(&threads.timed_number, 1, memory_order_relaxed);
    if (number >= TIMED_MAX) {
        atomic_store_explicit(&threads.timed_number, TIMED_MAX, memory_order_relaxed); /* it must not go round */
        return NULL;
    }
    struct libc_threads_timed *timed = &threads.timed[number];
    timed->value = event->sigev_value;
    /* release: see timed_is_of(). */
    atomic_store_explicit(&timed->function, event->sigev_notify_function, memory_order_release);
    return timed;
}

struct libc_threads_timed *libc_threads_timed_of(const struct sigevent *event)
{
    uint32_t number = atomic_load_explicit(&threads.timed_number, memory_order_relaxed);
    for (uint32_t i = 0; i < number && i < TIMED_MAX; i++) {
        if (timed_is_of(&threads.timed[i], event))
            return &threads.timed[i];
    }
    return timed_new(event);
}

/* Threads of this process; 0 where /proc does not tell. Its folder of threads has
 * a link for each, and the two that every folder has (fs/proc/base.c,
 * proc_task_getattr). */
static uint32_t threads_count(void)
{
    struct stat folder;
    if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &folder, 0) != 0 || folder.st_nlink < 2)
        return 0;
    return (uint32_t)folder.st_nlink - 2;
}

bool libc_threads_has_ended(pid_t process, pid_t id)
{
    int saved_errno = errno;
    bool has_ended = id != 0 && syscall(SYS_tgkill, process, id, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return has_ended;
}

/* Of the threads that MPI began: UCX 1.18 begins one that ends at once. One whose number the kernel has
 * given to another, and those beyond the table, count as alive. */
static uint32_t threads_ended(void)
{
    uint32_t number = atomic_load_explicit(&threads.of_mpi_number, memory_order_relaxed);
    uint32_t ended = 0;
    pid_t process = getpid();
    for (uint32_t i = 0; i < number && i < OF_MPI_MAX; i++)
        ended += libc_threads_has_ended(process, atomic_load_explicit(&threads.of_mpi_ids[i], memory_order_relaxed));
    return ended;
}

void libc_threads_look(void)
{
    if (libc_threads_are_several())
        return;
    /* Ended first, and then all: what ends in between is looked for again. relaxed: who begins a thread has
     * counted it before the kernel does. */
    uint32_t ended = threads_ended();
    if (threads_count() > atomic_load_explicit(&threads.expected, memory_order_relaxed) - ended)
        libc_threads_note();
}

/* Relaxed, all of it: one that is not in the table yet counts as alive. */
void libc_threads_enter_of_mpi(void)
{
    gate_thread.is_of_mpi = true;
    uint32_t i = atomic_fetch_add_explicit(&threads.of_mpi_number, 1, memory_order_relaxed);
    if (i < OF_MPI_MAX)
        atomic_store_explicit(&threads.of_mpi_ids[i], (pid_t)syscall(SYS_gettid), memory_order_relaxed);
}

bool libc_threads_are_mpis(pid_t id)
{
    uint32_t number = atomic_load_explicit(&threads.of_mpi_number, memory_order_relaxed);
    for (uint32_t i = 0; i < number && i < OF_MPI_MAX; i++) {
        if (atomic_load_explicit(&threads.of_mpi_ids[i], memory_order_relaxed) == id)
            return true;
    }
    return false;
}

void libc_threads_expect(void)
{
    /* Never less: threads_ended() takes off those that the kernel no longer has. relaxed: see libc_threads_look. */
    atomic_fetch_add_explicit(&threads.expected, 1, memory_order_relaxed);
}
