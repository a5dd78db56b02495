/* SPDX-License-Identifier: MIT */
/* Claim: a child forked while memory is held may use what is sent; a touch of what is being received ends it, with a
 * message that says why; and its parent is none the wiser. */
#include <signal.h>
#include <sys/wait.h>

#include "hold_test.h"

enum { BYTES = 65536, TEXT_BYTES = 512 };

static char *sent, *received;

static void child_write_sent(void)
{
    memset(sent, 'c', BYTES);
    exit(sent[BYTES - 1] == 'c' ? 0 : 1);
}

static void child_read_received(void)
{
    exit(received[BYTES / 2]);
}

static void child_fork(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        protect_forked_child();
        child_read_received();
    }
    waitpid(child, &status, 0);
    exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* What the child's end was and what it printed. */
static int child_run(void (*run)(void), char *text)
{
    int ends[2], status = 0;
    check(pipe(ends) == 0, "a pipe");
    protect_fork_begin();
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        protect_forked_child();
        run();
    }
    protect_fork_end();
    close(ends[1]);
    memset(text, 0, TEXT_BYTES);
    check(read(ends[0], text, TEXT_BYTES - 1) >= 0, "reading what the child prints");
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

int main(int argument_count, char **arguments)
{
    char text[TEXT_BYTES];
    sent = memory_map(BYTES);
    received = memory_map(BYTES);
    memset(received, 'b', BYTES);
    backend_start(argument_count, arguments);
    struct hold *sending = hold_arm(HOLD_NO_WRITE, sent, BYTES, TEST_OP);
    struct hold *receiving = hold_arm(HOLD_NO_ACCESS, received, BYTES, TEST_OP);
    check(child_run(child_write_sent, text) == 0, "the child writes to what is sent");
    int status = child_run(child_read_received, text);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a touch of lost memory ends the child");
    check(strstr(text, "forked while another thread awaited a message") != NULL, "the message says why");
    status = child_run(child_fork, text);
    check(WIFEXITED(status) && WEXITSTATUS(status) == SIGSEGV, "the child's child fares alike");
    memset(protect_hold_transfer_address(receiving), 'r', BYTES);
    protect_hold_release(sending);
    protect_hold_release(receiving);
    check(sent[0] == 0 && received[0] == 'r' && received[BYTES - 1] == 'r', "the parent's memory");
    check(touches_seen == 0, "no touch was reported");
    return 0;
}
