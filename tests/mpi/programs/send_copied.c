/* SPDX-License-Identifier: MIT */
/* Claim: a send from memory that cannot be held (a stack, a shared mapping) may
 * return early; what arrives is what the buffer held at the call.
 * defers: send */
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 40 };

static void send_and_rewrite(unsigned char *buffer, unsigned seed)
{
    check_fill(buffer, LENGTH, seed);
    check_send(buffer, LENGTH, 1, (int)seed);
    memset(buffer, 0xFF, LENGTH);
}

static void send_from_stack(unsigned seed)
{
    unsigned char buffer[LENGTH];
    send_and_rewrite(buffer, seed);
}

static void receive_late(unsigned char *buffer, unsigned count)
{
    check_delay();
    for (unsigned seed = 0; seed < count; seed++) {
        check_recv(buffer, LENGTH, 0, (int)seed);
        check(check_is_filled(buffer, LENGTH, seed), "the bytes as they were at the call");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *own = check_buffer_new(LENGTH + 1);
    unsigned char *shared = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(shared != MAP_FAILED, "mmap");
    if (check_rank() == 0) {
        for (unsigned seed = 0; seed < ROUNDS; seed += 4) {
            send_from_stack(seed);
            send_and_rewrite(shared, seed + 1);
            send_and_rewrite(own, seed + 2); /* touched at once: copied after a while */
            send_and_rewrite(own + 1, seed + 3);
        }
    } else {
        receive_late(own, ROUNDS);
    }
    return check_end();
}
