/* SPDX-License-Identifier: MIT */
/* Stands before libc's syscall(): all system calls of the protect layer go through it. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { SYSTEM_CALLS_ARGUMENTS = 6 };

/* What the test makes of a call. */
static long system_calls_answer(long number, const long *arguments);

static long system_calls_real(long number, const long *of)
{
    static long (*real)(long number, ...);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}

/* It reads as many arguments as a system call may have, where fewer were given. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    long of[SYSTEM_CALLS_ARGUMENTS];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < SYSTEM_CALLS_ARGUMENTS; i++)
        of[i] = va_arg(list, long);
    va_end(list);
    return system_calls_answer(number, of);
}

#endif
