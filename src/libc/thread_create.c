/* SPDX-License-Identifier: MIT */
/* The entries that start threads. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/signal_set.h"
#include "engine/gate.h"
#include "libc/real.h"
#include "libc/runtime.h"
#include "libc/stacks.h"
#include "libc/threads.h"
#include "libc/use.h"

typedef void *thread_start_fn(void *argument);

/* First in every thread that the program or MPI starts. */
static struct libc_threads_start thread_begin(void *given)
{
    struct libc_threads_start thread = *(struct libc_threads_start *)given;
    libc_threads_start_give_back(given);
    if (thread.opens != 0)
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &thread.opens, NULL, BASE_SIGNAL_SET_BYTES);
    if (thread.is_of_mpi) {
        libc_threads_enter_of_mpi();
        return thread;
    }
    gate_drop_rights();
    libc_stacks_enter();
    return thread;
}

static void *thread_run(void *given)
{
    struct libc_threads_start thread = thread_begin(given);
    return thread.start.posix(thread.argument);
}

static int thread_run_c11(void *given)
{
    struct libc_threads_start thread = thread_begin(given);
    return thread.start.c11(thread.argument);
}

/* What surrounds the start of a thread; `given` is null when there was no memory. */
struct creation {
    struct libc_threads_start *given;
    bool is_of_mpi;
    uint64_t signals_before;
};

/* MPI calls the program: a reduction function may begin a team. UCX begins one when it is loaded, where the machine has
 * FUSE (src/ucs/vfs/fuse): with the program, before our own constructor. Not asked later: dladdr() takes the loader's
 * lock, which a dlopen() has whose constructors may wait for this very thread. */
static bool thread_is_of_mpi(union libc_threads_function start)
{
    if (gate_is_inside() || gate_thread.is_of_mpi)
        return !libc_threads_begin_in_program((uintptr_t)start.posix);
    return !libc_threads_are_started() && libc_runtime_is_transport((uintptr_t)start.posix);
}

/* Is nothing to be noted of a thread but that it is there? Its stack is found when MPI is set up. */
static bool thread_is_libcs_alone(union libc_threads_function start)
{
    bool is_alone = !libc_stacks_are_watched() && !thread_is_of_mpi(start);
    if (is_alone)
        libc_threads_note_begun((uintptr_t)start.posix);
    return is_alone;
}

/* It may have come too late for those that MPI_Init, in another thread, looked for meanwhile. */
static void thread_is_made_alone(void)
{
    if (libc_stacks_are_watched())
        libc_stacks_enter_existing();
}

/* A new thread begins with the mask of the one that makes it. */
static uint64_t signals_deferred(void)
{
    return gate_thread.are_signals_deferred ? base_signal_set_deferrable() & ~gate_thread.signals_before : 0;
}

/* MPI's own threads leave signals to the program's: while the program's thread
 * defers them (gate.h), the kernel would give them to one of these, on whose stack
 * no handler of the program expects to run. */
static struct creation creation_begin(union libc_threads_function start, void *argument)
{
    struct creation creation = {libc_threads_start_new(), thread_is_of_mpi(start), 0};
    uint64_t most = base_signal_set_deferrable();
    if (creation.given != NULL)
        *creation.given = (struct libc_threads_start){.start = start,
                                                      .argument = argument,
                                                      .opens = creation.is_of_mpi ? 0 : signals_deferred(),
                                                      .is_of_mpi = creation.is_of_mpi};
    if (!creation.is_of_mpi) {
        libc_threads_note_begun((uintptr_t)start.posix);
        return creation;
    }
    libc_threads_expect();
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &most, &creation.signals_before, BASE_SIGNAL_SET_BYTES);
    return creation;
}

static void creation_end(struct creation *creation, bool is_created)
{
    if (creation->is_of_mpi)
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &creation->signals_before, NULL, BASE_SIGNAL_SET_BYTES);
    if (!is_created)
        free(creation->given);
}

/* GLIBC 2.17 lacks it, and cannot be asked: usual limits give threads so much there. */
#pragma weak pthread_getattr_default_np
enum { USUAL_STACK_BYTES = 8 << 20 };

static size_t usual_stack_bytes(void)
{
    size_t length_bytes = USUAL_STACK_BYTES;
    pthread_attr_t usual;
    if (pthread_getattr_default_np != NULL && pthread_getattr_default_np(&usual) == 0) {
        pthread_attr_getstacksize(&usual, &length_bytes);
        pthread_attr_destroy(&usual);
    }
    return length_bytes;
}

static size_t stack_bytes(const pthread_attr_t *attributes)
{
    size_t length_bytes = 0;
    if (attributes == NULL)
        return usual_stack_bytes();
    pthread_attr_getstacksize(attributes, &length_bytes);
    return length_bytes;
}

/* For its stack, and a heap of its own (glibc, malloc/arena.c). */
static void thread_make_room(const pthread_attr_t *attributes)
{
    enum { ARENA_BYTES = 64 << 20 };
    if (protect_armed_is_any())
        libc_use_grows(stack_bytes(attributes) + ARENA_BYTES);
}

static int pthread_create_alone(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                                void *argument)
{
    int error = LIBC_REAL(pthread_create)(thread, attributes, start, argument);
    thread_is_made_alone();
    return error;
}

int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument) LIBC_ENTRY(pthread_create);
int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument)
{
    if (thread_is_libcs_alone((union libc_threads_function){.posix = start}))
        return pthread_create_alone(thread, attributes, start, argument);
    thread_make_room(attributes);
    struct creation creation = creation_begin((union libc_threads_function){.posix = start}, argument);
    bool has_memory = creation.given != NULL;
    thread_start_fn *run = has_memory ? thread_run : start;
    void *given = has_memory ? creation.given : argument;
    int error = LIBC_REAL(pthread_create)(thread, attributes, run, given);
    /* EAGAIN is what libc makes of no room for a stack. */
    if (error == EAGAIN && libc_use_makes_room(ENOMEM))
        error = LIBC_REAL(pthread_create)(thread, attributes, run, given);
    creation_end(&creation, error == 0);
    return error;
}

static int thrd_create_alone(thrd_t *thread, thrd_start_t start, void *argument)
{
    int result = LIBC_REAL(thrd_create)(thread, start, argument);
    thread_is_made_alone();
    return result;
}

/* C11's, which in libc does not come through pthread_create (nptl/thrd_create.c). */
int libc_entry_thrd_create(thrd_t *thread, thrd_start_t start, void *argument) LIBC_ENTRY(thrd_create);
int libc_entry_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (thread_is_libcs_alone((union libc_threads_function){.c11 = start}))
        return thrd_create_alone(thread, start, argument);
    thread_make_room(NULL);
    struct creation creation = creation_begin((union libc_threads_function){.c11 = start}, argument);
    bool has_memory = creation.given != NULL;
    thrd_start_t run = has_memory ? thread_run_c11 : start;
    void *given = has_memory ? creation.given : argument;
    int result = LIBC_REAL(thrd_create)(thread, run, given);
    if (result != thrd_success && libc_use_makes_room(ENOMEM))
        result = LIBC_REAL(thrd_create)(thread, run, given);
    creation_end(&creation, result == thrd_success);
    return result;
}
