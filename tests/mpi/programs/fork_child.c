/* SPDX-License-Identifier: MIT */
/* Claim: a child forked right after a call sees the memory as it is, and so does the parent.
 * defers: send receive */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The child reads all, then writes all; only its own copy may change. */
static void fork_look(unsigned char *buffer, unsigned seed)
{
    pid_t child = fork();
    if (child == 0) {
        bool is_right = check_is_filled(buffer, CHECK_LARGE_BYTES, seed);
        memset(buffer, 0x33, CHECK_LARGE_BYTES);
        _exit(is_right ? 21 : 22);
    }
    int result = 0;
    waitpid(child, &result, 0);
    check(WIFEXITED(result) && WEXITSTATUS(result) == 21, "the child sees the buffer");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_recv_late(buffer, CHECK_LARGE_BYTES, 6, 0, 0, "neither parent nor child changed the message");
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_late(buffer, CHECK_LARGE_BYTES, 12, 0, 0);
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 6);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    fork_look(buffer, 6);
    memset(buffer, 1, CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    fork_look(buffer, 12);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 12), "the parent sees its message");
    return check_end();
}
