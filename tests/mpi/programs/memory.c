/* SPDX-License-Identifier: MIT */
/* Claim: messages are right whatever kind of memory they come from and go to.
 * defers: any */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 1 << 19 };

static unsigned char in_bss[LENGTH];

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
        check_echo(buffers[i], LENGTH, i);
        check_echo(buffers[i], LENGTH, i + 100);
    }
    return check_end();
}
