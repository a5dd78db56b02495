/* SPDX-License-Identifier: MIT */
/* Claim: a child made by fork(), or by clone() or its system call, right after a call sees the memory as it is, and
 * may change its own; and so does the parent.
 * defers: send receive
 * arguments: fork clone raw
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static unsigned expected;

/* The child reads all, then writes all; only its own copy may change. */
static int child_look(void *unused)
{
    (void)unused;
    bool is_right = check_is_filled(buffer, CHECK_LARGE_BYTES, expected);
    memset(buffer, 0x33, CHECK_LARGE_BYTES);
    return is_right ? 21 : 22;
}

static pid_t child_start(const char *way)
{
    static char stack[65536] __attribute__((aligned(16)));
    if (strcmp(way, "clone") == 0)
        return clone(child_look, stack + sizeof stack, SIGCHLD, NULL);
    bool is_raw = strcmp(way, "raw") == 0;
    pid_t child = is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
    if (child == 0)
        _exit(child_look(NULL));
    return child;
}

static void child_run(const char *way, unsigned seed)
{
    int result = 0;
    expected = seed;
    waitpid(child_start(way), &result, 0);
    check(WIFEXITED(result) && WEXITSTATUS(result) == 21, "the child sees the buffer");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the parent's memory is its own");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_recv_late(buffer, CHECK_LARGE_BYTES, 6, 0, 0, "neither parent nor child changed the message");
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_late(buffer, CHECK_LARGE_BYTES, 12, 0, 0);
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 6);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    child_run(argv[1], 6);
    memset(buffer, 1, CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    child_run(argv[1], 12);
    return check_end();
}
