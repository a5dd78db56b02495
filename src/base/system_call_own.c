/* SPDX-License-Identifier: MIT */
/* syscall() as Lapwing's own code calls it: the linker turns those calls into
 * calls of this function (--wrap=syscall), since the exported name is an entry
 * for the program. Also in signal context. */
#include <errno.h>

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

static long answer_as_libc(long answer)
{
    enum { ERRORS_MAX = 4095 };
    if ((unsigned long)answer <= -(unsigned long)ERRORS_MAX - 1)
        return answer;
    errno = (int)-answer;
    return -1;
}

#if defined(__x86_64__)
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return answer_as_libc(answer);
}
#elif defined(__aarch64__)
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long which __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    return answer_as_libc(first);
}
#else
#error "Lapwing knows x86-64 and aarch64"
#endif
