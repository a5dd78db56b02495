/* SPDX-License-Identifier: MIT */
/* Entries that copy, replace or end the process, and jumps out of what they wait for. */
#include "libc/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/options.h"
#include "engine/gate.h"
#include "libc/keep.h"
#include "libc/mpi_names.h"
#include "libc/owner.h"
#include "libc/real.h"
#include "libc/stacks.h"
#include "libc/threads.h"
#include "libc/use.h"
#include "op/lifetime.h"
#include "op/transfer.h"

static void process_forked(void)
{
    libc_threads_own.forks_told = 0;
    libc_owner_note();
    libc_keep_forked_child();
    mpi_names.forked_child();
    lifetime_forked_child();
}

/* No op begins between the wait and the fork. Inside MPI nothing can be waited for;
 * what MPI forks there is about to execute another program. */
static void process_prepare_fork(void)
{
    int saved_errno = errno;
    /* Who forks beside MPI_Init has no messages under way. */
    bool is_ours = libc_stacks_are_watched() && !gate_is_inside() && libc_owner_is_here();
    if (is_ours)
        protect_fork_begin();
    libc_threads_own.forks_told = libc_threads_own.forks_told << 1 | is_ours;
    if (is_ours && protect_armed_is_any())
        wait_copied();
    errno = saved_errno;
}

static void process_end_fork(void)
{
    bool is_told = libc_threads_own.forks_told & 1;
    libc_threads_own.forks_told >>= 1;
    if (is_told)
        protect_fork_end();
}

/* Out of a handler, and so out of all forks that this thread is in, and that wait. One that goes on after all, since
 * the jump was one inside the handler, is no longer known as one. */
static void process_leave_forks(void)
{
    while (libc_threads_own.forks_told != 0)
        process_end_fork();
}

void libc_process_jump(void *state, int value, void (*real)(void *, int))
{
    transfer_leave_waits();
    process_leave_forks();
    real(state, value);
}

/* Once more before any handler has run: an allocator that is linked into the program keeps its lock from its own
 * handler on, and what is waited for may need memory. In the child nothing is told any more. */
pid_t libc_entry_fork(void) LIBC_ENTRY(fork);
pid_t libc_entry_fork(void)
{
    process_prepare_fork();
    pid_t child = LIBC_REAL(fork)();
    int saved_errno = errno;
    process_end_fork();
    errno = saved_errno;
    return child;
}

/* Handlers run in reverse order before a fork: first registered, last to wait,
 * so that what other libraries do in theirs is covered. */
__attribute__((constructor(103))) static void process_start(void)
{
    if (options_are_off())
        return;
    libc_owner_note();
    pthread_atfork(process_prepare_fork, process_end_fork, process_forked);
}

static void process_exiting(void)
{
    int saved_errno = errno;
    if (libc_owner_begins_exit())
        lifetime_exit();
    errno = saved_errno;
}

/* A return from main calls exit inside libc, past our entry. */
__attribute__((destructor)) static void process_end(void)
{
    process_exiting();
}

void libc_process_exit(int status, void (*real)(int))
{
    process_exiting();
    real(status);
}

/* The execl family: the list becomes an array on the stack, as in libc, since a
 * child of vfork must not allocate. `list` starts after the first argument. */
static size_t arguments_count(const char *first, va_list list)
{
    size_t count = 0;
    for (const char *argument = first; argument; argument = va_arg(list, const char *))
        count++;
    return count;
}

/* By its address, since execle reads on where this ends (C17, 7.16p3: a copy would leave
 * the caller's list indeterminate; on x86-64 it goes on all the same, on aarch64 not). */
static void arguments_copy(char **arguments, size_t count, const char *first, va_list *list)
{
    for (size_t i = 0; i <= count; i++)
        arguments[i] = i == 0 ? (char *)first : count ? va_arg(*list, char *) : NULL;
}

/* As the entries of execv and its kin do; those are not called, since another preload's may answer to their names. */
static void arguments_wait(const char *path, char *const *arguments, char *const *environment)
{
    if (!protect_armed_is_any())
        return;
    libc_use_string(path);
    libc_use_strings(arguments);
    libc_use_strings(environment);
    libc_use_all();
}

int libc_entry_execl(const char *path, const char *argument, ...) LIBC_ENTRY(execl);
int libc_entry_execl(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    size_t count = arguments_count(argument, list);
    va_end(list);
    char *arguments[count + 1];
    va_start(list, argument);
    arguments_copy(arguments, count, argument, &list);
    va_end(list);
    arguments_wait(path, arguments, environ);
    return LIBC_REAL(execv)(path, arguments);
}

int libc_entry_execlp(const char *path, const char *argument, ...) LIBC_ENTRY(execlp);
int libc_entry_execlp(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    size_t count = arguments_count(argument, list);
    va_end(list);
    char *arguments[count + 1];
    va_start(list, argument);
    arguments_copy(arguments, count, argument, &list);
    va_end(list);
    arguments_wait(path, arguments, environ);
    return LIBC_REAL(execvp)(path, arguments);
}

int libc_entry_execle(const char *path, const char *argument, ...) LIBC_ENTRY(execle);
int libc_entry_execle(const char *path, const char *argument, ...)
{
    va_list list;
    va_start(list, argument);
    size_t count = arguments_count(argument, list);
    va_end(list);
    char *arguments[count + 1];
    va_start(list, argument);
    arguments_copy(arguments, count, argument, &list);
    char **environment = va_arg(list, char **); /* follows the null that ends the list */
    va_end(list);
    arguments_wait(path, arguments, environment);
    return LIBC_REAL(execve)(path, arguments, environment);
}
