/* SPDX-License-Identifier: MIT */
/* Claim: a handler may jump out of a fork that waits for a message (a timeout); what is received afterwards is held as
 * before.
 * defers: receive
 * passes: nothing
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TIMEOUT_US = 20000, LATE_US = 300000, ROUNDS = 3 };

static sigjmp_buf timeout;

static void handle_alarm(int number)
{
    (void)number;
    siglongjmp(timeout, 1);
}

/* As long as the message takes, or until the alarm. */
static void fork_for_a_while(void)
{
    if (sigsetjmp(timeout, 1) == 0) {
        ualarm(TIMEOUT_US, 0);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        ualarm(0, 0);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    signal(SIGALRM, handle_alarm);
    for (unsigned round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            check_fill(buffer, CHECK_LARGE_BYTES, round);
            usleep(LATE_US);
            check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        fork_for_a_while();
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message");
    }
    return check_end();
}
