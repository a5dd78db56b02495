/* SPDX-License-Identifier: MIT */
/* Claim: after protect_stop, and in a forked child, nothing is held, nothing can
 * be, the program has its signal back, and no descriptor of ours is left. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "hold_test.h"

enum { BYTES = 65536, DESCRIPTORS = 64 };

static int descriptor_count(void)
{
    int count = 0;
    for (int i = 0; i < DESCRIPTORS; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void handle_nothing(int signal_number)
{
    (void)signal_number;
}

static void expect_ended(char *memory, int descriptors)
{
    struct hold *hold = NULL;
    struct sigaction now;
    check(protect_hold_arm(HOLD_NO_WRITE, base_range_of(memory, BYTES), TEST_OP, &hold) != REASON_NONE,
          "nothing can be held");
    check(strcmp(protect_backend_name(), "none") == 0 && protect_event_descriptor() == -1, "there is no backend");
    check(protect_signal_disposition(NULL, &now) == ENOSYS, "SIGSEGV is the program's alone");
    sigaction(SIGSEGV, NULL, &now);
    check(now.sa_handler == handle_nothing, "its own handler is back");
    check(descriptor_count() == descriptors, "no descriptor is left");
}

int main(int argument_count, char **arguments)
{
    struct sigaction action = {.sa_handler = handle_nothing};
    int status = 0;
    int descriptors = descriptor_count();
    sigaction(SIGSEGV, &action, NULL);
    char *memory = memory_map(BYTES);
    backend_start(argument_count, arguments);
    protect_hold_release(hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP));
    pid_t child = fork();
    if (child == 0) {
        protect_inherit();
        expect_ended(memory, descriptors);
        memset(memory, 'c', BYTES);
        exit(0);
    }
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child is well");
    protect_hold_release(hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP));
    protect_stop();
    expect_ended(memory, descriptors);
    return 0;
}
