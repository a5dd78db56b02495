/* SPDX-License-Identifier: MIT */
/* Claim: a thread that was found before the kernel knew its stack stands in the way only until it is known, or until
 * the thread has ended. Such is one that the kernel has made and not yet run. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/claim.h"
#include "preload/fake.h"

enum { HEAD_BYTES = 24 }; /* struct robust_list_head, the only length that the kernel takes */

static void (*enter_existing_threads)(void);
static bool (*is_on_stack)(const void *address, size_t length_bytes);
static unsigned char description[HEAD_BYTES] __attribute__((aligned(16)));
static unsigned char buffer[4096];
static _Atomic int stage;

static void stage_await(int wanted)
{
    while (atomic_load(&stage) != wanted)
        ;
}

/* The thread shares the first one's variables, errno among them: it makes system calls that do not fail. */
static int run_and_tell(void *unused)
{
    (void)unused;
    stage_await(1);
    syscall(SYS_set_robust_list, description, HEAD_BYTES);
    atomic_store(&stage, 2);
    stage_await(3);
    syscall(SYS_exit, 0);
    return 0;
}

static int run_and_end(void *unused)
{
    (void)unused;
    stage_await(4);
    syscall(SYS_exit, 0);
    return 0;
}

static void thread_start(int (*run)(void *unused), unsigned char *stack_high)
{
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    claim(clone(run, stack_high, flags, NULL) > 0, "a thread without libc");
    enter_existing_threads();
}

static bool ends_standing_in_the_way(const void *address)
{
    struct timespec millisecond = {0, 1000 * 1000};
    for (int i = 0; i < 2000 && is_on_stack(address, 1); i++)
        nanosleep(&millisecond, NULL);
    return !is_on_stack(address, 1);
}

int main(void)
{
    static unsigned char stacks[2][65536] __attribute__((aligned(16)));
    *(void **)&enter_existing_threads = dlsym(RTLD_DEFAULT, "fake_enter_existing_threads");
    *(void **)&is_on_stack = dlsym(RTLD_DEFAULT, "fake_is_on_stack");
    claim(!is_on_stack(buffer, sizeof buffer), "one thread");
    thread_start(run_and_tell, stacks[1]);
    claim(is_on_stack(buffer, sizeof buffer), "its stack may be anywhere");
    atomic_store(&stage, 1);
    stage_await(2);
    claim(!is_on_stack(buffer, sizeof buffer), "its stack is known, and is elsewhere");
    claim(is_on_stack(description, sizeof description), "its stack is known");
    atomic_store(&stage, 3);
    claim(ends_standing_in_the_way(description), "it has ended");

    thread_start(run_and_end, stacks[2]);
    claim(is_on_stack(buffer, sizeof buffer), "another that is not known");
    atomic_store(&stage, 4);
    claim(ends_standing_in_the_way(buffer), "it has ended without telling");
    return 0;
}
