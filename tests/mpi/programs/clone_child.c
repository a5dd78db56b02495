/* SPDX-License-Identifier: MIT */
/* Claim: a child made by clone() right after a call sees the memory as it is, and may change its own.
 * defers: send receive
 * arguments: libc raw */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static unsigned expected;

static int child_look(void *unused)
{
    (void)unused;
    bool is_right = check_is_filled(buffer, CHECK_LARGE_BYTES, expected);
    memset(buffer, 0x33, CHECK_LARGE_BYTES);
    return is_right ? 21 : 22;
}

static pid_t child_start(bool is_raw)
{
    static char stack[65536] __attribute__((aligned(16)));
    if (!is_raw)
        return clone(child_look, stack + sizeof stack, SIGCHLD, NULL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(child_look(NULL));
    return child;
}

static void clone_look(bool is_raw, unsigned seed)
{
    int result = 0;
    expected = seed;
    pid_t child = child_start(is_raw);
    waitpid(child, &result, 0);
    check(WIFEXITED(result) && WEXITSTATUS(result) == 21, "the child sees the buffer");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the parent's memory is its own");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_raw = strcmp(argv[1], "raw") == 0;
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_delay();
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_late(buffer, CHECK_LARGE_BYTES, 12, 0, 0);
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 6);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    clone_look(is_raw, 6);
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    clone_look(is_raw, 12);
    return check_end();
}
