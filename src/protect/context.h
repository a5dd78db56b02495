/* SPDX-License-Identifier: MIT */
/* What a signal handler's context says about the interrupted code; the only place of
 * this layer that asks which processor it is. */
#ifndef PROTECT_CONTEXT_H
#define PROTECT_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

struct context_place {
    uintptr_t instruction;
    uintptr_t stack; /* stack pointer */
};

static inline struct context_place context_place(const void *context)
{
    const ucontext_t *machine = context;
#if defined(__x86_64__)
    return (struct context_place){(uintptr_t)machine->uc_mcontext.gregs[REG_RIP],
                                  (uintptr_t)machine->uc_mcontext.gregs[REG_RSP]};
#elif defined(__aarch64__)
    return (struct context_place){machine->uc_mcontext.pc, machine->uc_mcontext.sp};
#else
#error "Lapwing runs on x86-64 and aarch64"
#endif
}

#endif
