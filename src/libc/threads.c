/* SPDX-License-Identifier: MIT */
/* A program with one thread cannot race with its own hold, and holds are cheaper
 * then (protect_threads_set). */
#include "libc/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/signals.h"
#include "engine/gate.h"
#include "libc/real.h"
#include "libc/runtime.h"
#include "libc/signals.h"
#include "libc/use.h"
#include "protect/memory.h"
#include "protect/protect.h"

enum { STACKS_MAX = 1024, OF_MPI_MAX = 64 };

typedef void *thread_start_fn(void *argument);

/* pthread_create's function, or thrd_create's. */
union thread_function {
    thread_start_fn *posix;
    thrd_start_t c11;
};

struct thread_start {
    union thread_function start;
    void *argument;
    bool is_of_mpi;
};

/* are_several: set before the second thread exists, never cleared. A stack's low
 * end is 0 while its slot is free; its thread writes the high end first, so that
 * a reader never sees half a range that it would take for free memory. */
static _Atomic bool are_several;
static _Atomic uint32_t unlisted;     /* threads that live and have no slot */
static _Atomic uint32_t expected = 1; /* the first thread, and all that MPI and the engine ever began */
static struct {
    _Atomic uint32_t number;
    _Atomic pid_t ids[OF_MPI_MAX]; /* each written by its thread, once; 0 before */
} of_mpi;
static _Thread_local bool is_of_mpi;
static _Thread_local bool is_entered; /* its stack is in the table, or the kernel says that it is one */
static struct {
    _Atomic uintptr_t low;
    _Atomic uintptr_t high;
    _Atomic pid_t id; /* of a thread that does not give its slot back itself; else 0 */
} stacks[STACKS_MAX];
static _Atomic bool is_watching; /* set by libc_threads_watch(), never cleared */

bool libc_threads_are_several(void)
{
    return atomic_load_explicit(&are_several, memory_order_relaxed);
}

void libc_threads_note(void)
{
    atomic_store_explicit(&are_several, true, memory_order_relaxed);
    protect_threads_set(true);
}

bool libc_threads_is_of_mpi(void)
{
    return is_of_mpi;
}

void libc_threads_note_unless_mpis(void)
{
    if (!gate_is_inside() && !is_of_mpi)
        libc_threads_note();
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

static bool thread_has_ended(pid_t process, pid_t id)
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
    uint32_t number = atomic_load_explicit(&of_mpi.number, memory_order_relaxed);
    uint32_t ended = 0;
    pid_t process = getpid();
    for (uint32_t i = 0; i < number && i < OF_MPI_MAX; i++)
        ended += thread_has_ended(process, atomic_load_explicit(&of_mpi.ids[i], memory_order_relaxed));
    return ended;
}

void libc_threads_look(void)
{
    if (libc_threads_are_several())
        return;
    /* Ended first, and then all: what ends in between is looked for again. relaxed: who begins a thread has
     * counted it before the kernel does. */
    uint32_t ended = threads_ended();
    if (threads_count() > atomic_load_explicit(&expected, memory_order_relaxed) - ended)
        libc_threads_note();
}

/* Relaxed, all of it: one that is not in the table yet counts as alive. */
static void thread_enter_of_mpi(void)
{
    uint32_t i = atomic_fetch_add_explicit(&of_mpi.number, 1, memory_order_relaxed);
    if (i < OF_MPI_MAX)
        atomic_store_explicit(&of_mpi.ids[i], (pid_t)syscall(SYS_gettid), memory_order_relaxed);
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

static int stack_enter(struct range stack, pid_t id)
{
    for (int i = 0; i < STACKS_MAX; i++) {
        uintptr_t unused = 0;
        /* claimed by its high end; published by its low end */
        if (atomic_compare_exchange_strong_explicit(&stacks[i].high, &unused, stack.high, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&stacks[i].id, id, memory_order_relaxed);
            atomic_store_explicit(&stacks[i].low, stack.low, memory_order_release);
            return i;
        }
    }
    atomic_fetch_add_explicit(&unlisted, 1, memory_order_relaxed);
    return STACKS_MAX;
}

static void slot_clear(intptr_t i)
{
    atomic_store_explicit(&stacks[i].low, 0, memory_order_release);
    atomic_store_explicit(&stacks[i].high, 0, memory_order_release);
}

/* Runs when the thread ends in whatever way; `slot_plus_1` as it was set. */
static void stack_leave(void *slot_plus_1)
{
    intptr_t i = (intptr_t)slot_plus_1 - 1;
    if (i == STACKS_MAX)
        atomic_fetch_sub_explicit(&unlisted, 1, memory_order_relaxed);
    else
        slot_clear(i);
}

static pthread_key_t stack_key; /* by libc_threads_watch(); without a key no slot is ever given back */
static bool has_key;
static bool has_started; /* by the constructor, when at most threads of constructors run */

__attribute__((constructor(102))) static void threads_start(void)
{
    has_started = true;
    is_entered = true; /* the first thread's stack grows: the kernel names it */
}

static void thread_enter(void)
{
    is_entered = true;
    libc_signals_open_thread(); /* its attributes may block signals (pthread_attr_setsigmask_np(3)) */
    int slot = stack_enter(stack_of_this_thread(), 0);
    if (has_key)
        pthread_setspecific(stack_key, (void *)(intptr_t)(slot + 1));
}

static bool thread_is_mpis(pid_t id)
{
    uint32_t number = atomic_load_explicit(&of_mpi.number, memory_order_relaxed);
    for (uint32_t i = 0; i < number && i < OF_MPI_MAX; i++) {
        if (atomic_load_explicit(&of_mpi.ids[i], memory_order_relaxed) == id)
            return true;
    }
    return false;
}

/* The kernel knows where glibc's description of each thread is, by its list of robust mutexes, and glibc puts the
 * description on the stack's top (nptl/allocatestack.c). Its mapping is all the stack, or the larger memory that the
 * program made one in. Nothing is read there: the thread may be ending. */
static void thread_enter_existing(pid_t id)
{
    void *description = NULL;
    size_t length_bytes;
    struct mapping mapping;
    bool is_known = syscall(SYS_get_robust_list, id, &description, &length_bytes) == 0 && description != NULL;
    if (is_known && memory_mapping_find((uintptr_t)description, &mapping))
        (void)stack_enter(mapping.range, id);
    else if (!thread_has_ended(getpid(), id))
        atomic_fetch_add_explicit(&unlisted, 1, memory_order_relaxed);
}

static void threads_enter_existing(void)
{
    pid_t own = (pid_t)syscall(SYS_gettid);
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) {
        atomic_fetch_add_explicit(&unlisted, 1, memory_order_relaxed);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        /* The first thread's stack has a name in the kernel's list. */
        if (id != 0 && id != own && id != getpid() && !thread_is_mpis(id))
            thread_enter_existing(id);
    }
    closedir(folder);
}

void libc_threads_watch(void)
{
    has_key = pthread_key_create(&stack_key, stack_leave) == 0;
    /* seq_cst: a thread made beside this is found in the folder, or its maker finds the flag after it. */
    atomic_store_explicit(&is_watching, true, memory_order_seq_cst);
    if (libc_threads_are_several())
        threads_enter_existing();
}

/* True while the thread that left its id lives; a slot of one that has ended is given back. */
static bool stack_is_used(int i)
{
    pid_t id = atomic_load_explicit(&stacks[i].id, memory_order_relaxed);
    bool has_ended = id != 0 && thread_has_ended(getpid(), id);
    if (has_ended)
        slot_clear(i);
    return !has_ended;
}

bool libc_threads_own_stack(struct range bytes)
{
    if (!libc_threads_are_several())
        return false;
    if (!is_entered)
        thread_enter();
    for (int i = 0; i < STACKS_MAX; i++) {
        /* acquire: a low end seen here comes with its high end. */
        struct range stack = {atomic_load_explicit(&stacks[i].low, memory_order_acquire),
                              atomic_load_explicit(&stacks[i].high, memory_order_relaxed)};
        if (stack.low != 0 && base_ranges_overlap(stack, bytes) && stack_is_used(i))
            return true;
    }
    return atomic_load_explicit(&unlisted, memory_order_relaxed) != 0;
}

/* First in every thread that the program or MPI starts. */
static struct thread_start thread_begin(void *given)
{
    struct thread_start thread = *(struct thread_start *)given;
    free(given);
    is_of_mpi = thread.is_of_mpi;
    if (is_of_mpi)
        thread_enter_of_mpi();
    else
        thread_enter();
    return thread;
}

static void *thread_run(void *given)
{
    struct thread_start thread = thread_begin(given);
    return thread.start.posix(thread.argument);
}

static int thread_run_c11(void *given)
{
    struct thread_start thread = thread_begin(given);
    return thread.start.c11(thread.argument);
}

/* What surrounds the start of a thread; `given` is null when there was no memory. */
struct creation {
    struct thread_start *given;
    bool is_of_mpi;
    uint64_t signals_before;
};

/* UCX begins one when it is loaded, where the machine has FUSE (src/ucs/vfs/fuse): with the program, before
 * our own constructor. Not asked later: dladdr() takes the loader's lock, which a dlopen() has whose constructors
 * may wait for this very thread. */
static bool thread_is_of_mpi(union thread_function start)
{
    if (gate_is_inside() || is_of_mpi)
        return true;
    return !has_started && libc_runtime_is_transport((uintptr_t)start.posix);
}

/* seq_cst: see libc_threads_watch(). */
static bool threads_are_watched(void)
{
    return atomic_load_explicit(&is_watching, memory_order_seq_cst);
}

/* Is nothing to be noted of a thread but that it is there? Its stack is found when MPI is set up. */
static bool thread_is_libcs_alone(union thread_function start)
{
    bool is_alone = !threads_are_watched() && !thread_is_of_mpi(start);
    if (is_alone)
        libc_threads_note();
    return is_alone;
}

/* It may have come too late for those that MPI_Init, in another thread, looked for meanwhile. */
static void thread_is_made_alone(void)
{
    if (threads_are_watched())
        threads_enter_existing();
}

/* MPI's own threads leave signals to the program's: while the program's thread
 * defers them (gate.h), the kernel would give them to one of these, on whose stack
 * no handler of the program expects to run. */
static struct creation creation_begin(union thread_function start, void *argument)
{
    struct creation creation = {malloc(sizeof *creation.given), thread_is_of_mpi(start), 0};
    uint64_t most = base_signals_deferrable();
    if (creation.given != NULL)
        *creation.given = (struct thread_start){start, argument, creation.is_of_mpi};
    if (!creation.is_of_mpi) {
        libc_threads_note();
        return creation;
    }
    /* Never less: threads_ended() takes off those that the kernel no longer has. relaxed: see libc_threads_look. */
    atomic_fetch_add_explicit(&expected, 1, memory_order_relaxed);
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

static int pthread_create_alone(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                                void *argument)
{
    int error = libc_real()->pthread_create(thread, attributes, start, argument);
    thread_is_made_alone();
    return error;
}

int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument) LIBC_ENTRY(pthread_create);
int libc_entry_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_start_fn *start,
                              void *argument)
{
    if (thread_is_libcs_alone((union thread_function){.posix = start}))
        return pthread_create_alone(thread, attributes, start, argument);
    struct creation creation = creation_begin((union thread_function){.posix = start}, argument);
    bool has_memory = creation.given != NULL;
    thread_start_fn *run = has_memory ? thread_run : start;
    void *given = has_memory ? creation.given : argument;
    int error = libc_real()->pthread_create(thread, attributes, run, given);
    /* EAGAIN is what libc makes of no room for a stack. */
    if (error == EAGAIN && libc_use_makes_room(ENOMEM))
        error = libc_real()->pthread_create(thread, attributes, run, given);
    creation_end(&creation, error == 0);
    return error;
}

static int thrd_create_alone(thrd_t *thread, thrd_start_t start, void *argument)
{
    int result = libc_real()->thrd_create(thread, start, argument);
    thread_is_made_alone();
    return result;
}

/* C11's, which in libc does not come through pthread_create (nptl/thrd_create.c). */
int libc_entry_thrd_create(thrd_t *thread, thrd_start_t start, void *argument) LIBC_ENTRY(thrd_create);
int libc_entry_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (thread_is_libcs_alone((union thread_function){.c11 = start}))
        return thrd_create_alone(thread, start, argument);
    struct creation creation = creation_begin((union thread_function){.c11 = start}, argument);
    bool has_memory = creation.given != NULL;
    thrd_start_t run = has_memory ? thread_run_c11 : start;
    void *given = has_memory ? creation.given : argument;
    int result = libc_real()->thrd_create(thread, run, given);
    if (result != thrd_success && libc_use_makes_room(ENOMEM))
        result = libc_real()->thrd_create(thread, run, given);
    creation_end(&creation, result == thrd_success);
    return result;
}
