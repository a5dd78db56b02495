/* SPDX-License-Identifier: MIT */
/* Claim: read(2) into held memory waits where the backend says that system calls
 * wait, and fails with EFAULT, harmlessly, where it says that they fail. */
#include <errno.h>
#include <sys/syscall.h>

#include "hold_test.h"

enum { BYTES = 65536 };

static int pipe_ends[2];
static char *memory;
static _Atomic bool is_through;
static ssize_t result;

static void *read_into_hold(void *argument)
{
    result = syscall(SYS_read, pipe_ends[0], argument, 5);
    result = result < 0 ? -errno : result;
    atomic_store(&is_through, true);
    return NULL;
}

static void read_while_held(enum hold_kind kind)
{
    pthread_t thread;
    atomic_store(&is_through, false);
    check(write(pipe_ends[1], "hello", 5) == 5, "write");
    struct hold *hold = hold_arm(kind, memory, BYTES, TEST_OP);
    pthread_create(&thread, NULL, read_into_hold, memory + 4096);
    sleep_ms(30);
    check(atomic_load(&is_through) == protect_system_calls_fail(), "a system call waits unless the backend says no");
    protect_hold_release(hold);
    pthread_join(thread, NULL);
    check(result == (protect_system_calls_fail() ? -EFAULT : 5), "it ends as the backend says");
    if (result != 5)
        read_into_hold(memory + 4096);
    check(memcmp(memory + 4096, "hello", 5) == 0, "the bytes arrive after the release");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    check(pipe(pipe_ends) == 0, "pipe");
    memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    read_while_held(HOLD_NO_ACCESS);
    memset(memory, 'o', BYTES);
    read_while_held(HOLD_NO_WRITE);
    return 0;
}
