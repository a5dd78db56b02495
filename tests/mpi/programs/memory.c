/* SPDX-License-Identifier: MIT */
/* Claim: messages are right whatever kind of memory they come from and go to.
 * defers: any */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 1 << 19 };

static unsigned char in_bss[LENGTH];

static void memory_exchange(unsigned char *buffer, unsigned seed)
{
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH, seed);
        check_send(buffer, LENGTH, 1, 0);
        memset(buffer, 0xEE, LENGTH);
        check_recv(buffer, LENGTH, 1, 1);
        check(check_is_filled(buffer, LENGTH, seed + 1), "the answer arrived");
        return;
    }
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, seed), "the message arrived");
    check_fill(buffer, LENGTH, seed + 1);
    check_send(buffer, LENGTH, 0, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char on_stack[LENGTH];
    FILE *file = tmpfile();
    check(ftruncate(fileno(file), LENGTH) == 0, "a temporary file");
    unsigned char *buffers[] = {
        in_bss,
        on_stack,
        malloc(LENGTH),
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0),
        mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0),
        aligned_alloc(4096, LENGTH),
    };
    for (int i = 0; i < 8; i++) {
        memory_exchange(buffers[i], i);
        memory_exchange(buffers[i], i + 100);
    }
    return check_end();
}
