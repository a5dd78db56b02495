/* SPDX-License-Identifier: MIT */
/* Claim: a process that reads its own memory through /proc/self/mem finds the message.
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;

static void receive_and_look(void)
{
    unsigned char seen = 0;
    int memory = open("/proc/self/mem", O_RDONLY);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 2);
    check(pread(memory, &seen, 1, (off_t)(size_t)(buffer + 5000)) == 1, "looking into /proc/self/mem");
    check(seen == check_byte(5000, 6), "what was seen");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        receive_and_look();
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 6);
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, 2);
    return check_end();
}
