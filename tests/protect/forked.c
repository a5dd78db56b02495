/* SPDX-License-Identifier: MIT */
/* Claim: a child forked while memory is held may use what is sent, and the neighbours of what is being received; a
 * touch of the latter ends it, with a message that says why; and its parent is none the wiser. */
#include <signal.h>
#include <sys/wait.h>

#include "hold_test.h"

enum { BYTES = 65536, BEFORE = 100, BEHIND = 200, RECEIVED_BYTES = BYTES - BEFORE - BEHIND, TEXT_BYTES = 4096 };

static char *sent, *received;

static void child_write_sent(void)
{
    memset(sent, 'c', BYTES);
    exit(sent[BYTES - 1] == 'c' ? 0 : 1);
}

static void child_read_received(void)
{
    exit(received[BYTES / 2] == 'r');
}

static void child_use_neighbours(void)
{
    check(received[0] == 'b' && received[BYTES - 1] == 'b', "the neighbours");
    memset(received, 'n', BEFORE);
    memset(received + BYTES - BEHIND, 'n', BEHIND);
    exit(received[0] == 'n' && received[BYTES - 1] == 'n' ? 0 : 1);
}

static void child_fork(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        protect_inherit();
        child_read_received();
    }
    waitpid(child, &status, 0);
    exit(status != 0);
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
        protect_inherit();
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
    struct hold *receiving = hold_arm(HOLD_NO_ACCESS, received + BEFORE, RECEIVED_BYTES, TEST_OP);
    check(child_run(child_write_sent, text) == 0, "the child writes to what is sent");
    check(child_run(child_use_neighbours, text) == 0, "the child uses what lies beside");
    /* By SIGSEGV, or by a sanitizer's handler for it. */
    check(child_run(child_read_received, text) != 0, "a touch of lost memory ends the child");
    check(strstr(text, "forked while a message was awaited") != NULL, "the message says why");
    check(child_run(child_fork, text) != 0 && strstr(text, "forked while a message was awaited") != NULL,
          "the child's child fares alike");
    arrive(protect_hold_transfer_address(receiving), 'r', RECEIVED_BYTES);
    protect_hold_release(sending);
    protect_hold_release(receiving);
    check(sent[0] == 0 && received[BEFORE] == 'r' && received[BYTES - BEHIND - 1] == 'r', "the parent's message");
    check(received[0] == 'b' && received[BYTES - 1] == 'b', "and its neighbours");
    check(touches_seen == 0, "no touch was reported");
    return 0;
}
