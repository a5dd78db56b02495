/* SPDX-License-Identifier: MIT */
/* arc4random_buf(): a function that cannot say that it failed, so that libc ends the process where the kernel may not
 * write to the caller's memory. */
#include <errno.h>
#include <stdlib.h>

#include "libc/real.h"
#include "libc/use.h"

/* Before GLIBC 2.36. A program that asks by a weak reference finds us. */
static bool is_lacking(void)
{
    (void)LIBC_REAL(arc4random_buf);
    return LIBC_REAL_FOUND(arc4random_buf) == NULL;
}

static void fill(char *next, size_t left_bytes)
{
    while (left_bytes > 0) {
        ssize_t done_bytes = LIBC_REAL(getrandom)(next, left_bytes, 0);
        if (done_bytes < 0 && errno != EINTR)
            abort();
        next += done_bytes > 0 ? done_bytes : 0;
        left_bytes -= done_bytes > 0 ? (size_t)done_bytes : 0;
    }
}

void libc_entry_arc4random_buf(void *buffer, size_t length_bytes) LIBC_ENTRY(arc4random_buf);
void libc_entry_arc4random_buf(void *buffer, size_t length_bytes)
{
    if (!libc_use_is_idle()) {
        libc_use_drain();
        libc_use_writes(buffer, length_bytes);
    }
    if (is_lacking())
        fill(buffer, length_bytes);
    else
        LIBC_REAL(arc4random_buf)(buffer, length_bytes);
}
