/* SPDX-License-Identifier: MIT */
/* Claim: a handler may jump out of a system call that waits for a message (a timeout); a child that is forked while the
 * next message is pending still sees that one.
 * defers: receive
 * quick: openmpi4 userfaultfd-user signal-1 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TIMEOUT_US = 20000, LATE_US = 2600000 };

static sigjmp_buf timeout;

static void handle_alarm(int number)
{
    (void)number;
    siglongjmp(timeout, 1);
}

/* Into a buffer that is still being received: as long as the message takes, or until the alarm. */
static void write_for_a_while(unsigned char *buffer)
{
    int ends[2];
    check(pipe(ends) == 0, "a pipe");
    if (sigsetjmp(timeout, 1) == 0) {
        ualarm(TIMEOUT_US, 0);
        check(write(ends[1], buffer, 10) == 10, "what was received can be written");
        ualarm(0, 0);
    }
    close(ends[0]);
    close(ends[1]);
}

static bool child_sees(const unsigned char *buffer, unsigned seed)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(check_is_filled(buffer, CHECK_LARGE_BYTES, seed) ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *first = check_buffer_new(CHECK_LARGE_BYTES), *second = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_fill(first, CHECK_LARGE_BYTES, 4);
        check_fill(second, CHECK_LARGE_BYTES, 5);
        usleep(200000);
        check_send(first, CHECK_LARGE_BYTES, 0, 0);
        usleep(LATE_US);
        check_send(second, CHECK_LARGE_BYTES, 0, 1);
        return check_end();
    }
    signal(SIGALRM, handle_alarm);
    check_recv(first, CHECK_LARGE_BYTES, 1, 0);
    write_for_a_while(first);
    check(check_is_filled(first, CHECK_LARGE_BYTES, 4), "the first message");
    check_recv(second, CHECK_LARGE_BYTES, 1, 1);
    check(child_sees(second, 5), "the child sees the second message");
    check(check_is_filled(second, CHECK_LARGE_BYTES, 5), "the second message");
    return check_end();
}
