/* SPDX-License-Identifier: MIT */
/* Claim: signals are delivered on an alternate stack that lies beside a message's buffer.
 * quick: openmpi4 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

static struct {
    unsigned char stack[65536 - 1000];
    unsigned char buffer[CHECK_LARGE_BYTES];
} shared __attribute__((aligned(4096)));

static volatile int count;

static void handle(int number)
{
    (void)number;
    count++;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    stack_t stack = {.ss_sp = shared.stack, .ss_size = sizeof shared.stack};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGTTIN, &action, NULL);
    for (int i = 0; i < 5; i++) {
        if (check_rank() == 1) {
            check_send_late(shared.buffer, sizeof shared.buffer, i, 0, 0);
            continue;
        }
        check_recv(shared.buffer, sizeof shared.buffer, 1, 0);
        raise(SIGTTIN);
        check(count == i + 1, "the handler ran");
        check(check_is_filled(shared.buffer, sizeof shared.buffer, i), "the message");
    }
    return check_end();
}
