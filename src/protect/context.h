/* SPDX-License-Identifier: MIT */
/* What a signal handler's context says about the interrupted code; the only place of
 * this layer that asks which processor it is. */
#ifndef PROTECT_CONTEXT_H
#define PROTECT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
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

/* The signals that the interrupted thread had blocked, and will have, as the kernel has them. */
static inline uint64_t *context_mask(void *context)
{
    return (uint64_t *)&((ucontext_t *)context)->uc_sigmask;
}

/* Does this handler run on the thread's alternate stack? The frame is where the kernel put it. */
static inline bool context_is_on_alternate_stack(const void *context)
{
    const stack_t *stack = &((const ucontext_t *)context)->uc_stack;
    return (uintptr_t)context - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* The rights by protection keys that the interrupted thread had, and will have. offset_bytes: machine_rights_offset().
 * NULL: the frame has none. The layout is that of linux/arch/x86/include/uapi/asm/sigcontext.h. */
static inline uint32_t *context_rights(void *context, uint32_t offset_bytes)
{
#if defined(__x86_64__)
    enum { MAGIC = 0x46505853, MAGIC_AT = 464, STATES_AT = 472, LENGTH_AT = 480, PRESENT_AT = 512, RIGHTS = 1 << 9 };
    uintptr_t frame = (uintptr_t)((ucontext_t *)context)->uc_mcontext.fpregs;
    if (frame == 0 || *(const uint32_t *)(frame + MAGIC_AT) != MAGIC)
        return NULL;
    bool has_rights = (*(const uint64_t *)(frame + STATES_AT) & RIGHTS) != 0;
    if (!has_rights || *(const uint32_t *)(frame + LENGTH_AT) < offset_bytes + sizeof(uint32_t))
        return NULL;
    uint64_t *present = (uint64_t *)(frame + PRESENT_AT);
    uint32_t *rights = (uint32_t *)(frame + offset_bytes);
    *rights = *present & RIGHTS ? *rights : 0; /* what is not present is in its first state */
    *present |= RIGHTS;
    return rights;
#else
    (void)context;
    (void)offset_bytes;
    return NULL;
#endif
}

#endif
