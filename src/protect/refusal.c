/* SPDX-License-Identifier: MIT */
#include "protect/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protect/kernel.h"

enum { CAUSE_BYTES = 64, LINE_BYTES = 256 };

/* ENOSYS, too: filters may answer so, and the kernel has done the same call before. */
static void cause_put(char cause[CAUSE_BYTES], int error)
{
    if (error == EPERM || error == EACCES || error == ENOSYS)
        snprintf(cause, CAUSE_BYTES, "a filter of system calls may refuse it");
    else if (error == ENOMEM)
        snprintf(cause, CAUSE_BYTES, "it may lack memory");
    else
        snprintf(cause, CAUSE_BYTES, "errno %d", error);
}

_Noreturn void refusal_end(const char *act, int error, const char *harm)
{
    char cause[CAUSE_BYTES];
    char line[LINE_BYTES];
    cause_put(cause, error);
    snprintf(line, sizeof line,
             "lapwing: the kernel does not %s (%s): this process ends rather than %s. Run with --hold none.\n", act,
             cause, harm);
    syscall(SYS_write, STDERR_FILENO, line, strlen(line));
    abort();
}

/* What the program has taken away needs no opening. */
static bool is_all_mapped(struct range pages)
{
    return syscall(SYS_msync, pages.low, pages.high - pages.low, MS_ASYNC) == 0;
}

void refusal_end_open(struct range pages, int error)
{
    static const char text[] =
        "lapwing: the kernel does not open a message's memory again (the program may have used up "
        "its limit of data, ulimit -d, or its mappings): this process ends. Run with --hold "
        "none.\n";
    if (error != ENOMEM || !is_all_mapped(pages))
        return;
    syscall(SYS_write, STDERR_FILENO, text, sizeof(text) - 1);
    abort();
}
