/* SPDX-License-Identifier: MIT */
/* This processor's relocation types, call instructions, protection keys and arithmetic; the only place that asks which
 * processor it is. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    MACHINE_R_COPY = R_X86_64_COPY,
    MACHINE_R_GLOB_DAT = R_X86_64_GLOB_DAT,
    MACHINE_R_JUMP_SLOT = R_X86_64_JUMP_SLOT,
    MACHINE_R_ADDRESS = R_X86_64_64
};

static inline bool machine_code_is(uintptr_t place, const char *code, size_t length_bytes)
{
    return memcmp((const void *)place, code, length_bytes) == 0;
}

/* What the 32-bit distance at `place`, the end of its instruction, leads to. */
static inline uintptr_t machine_relative(uintptr_t place)
{
    int32_t distance;
    memcpy(&distance, (const void *)place, sizeof distance);
    return place + sizeof distance + (uintptr_t)(intptr_t)distance;
}

/* Where the call before a return address goes; 0: there is none of this kind. */
static inline uintptr_t machine_call_target(uintptr_t return_address)
{
    return machine_code_is(return_address - 5, "\xe8", 1) ? machine_relative(return_address - 4) : 0;
}

/* The slot that the call before a return address goes through: call *slot(%rip) */
static inline uintptr_t machine_call_slot(uintptr_t return_address)
{
    return machine_code_is(return_address - 6, "\xff\x15", 2) ? machine_relative(return_address - 4) : 0;
}

/* The slot of a jump in the linkage table: [endbr64] [bnd] jmp *slot(%rip) */
static inline uintptr_t machine_jump_slot(uintptr_t place)
{
    place += machine_code_is(place, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
    place += machine_code_is(place, "\xf2", 1) ? 1 : 0;
    return machine_code_is(place, "\xff\x25", 2) ? machine_relative(place + 2) : 0;
}

/* What the calling thread may do by protection keys (PKRU): two bits of each key, that nothing is allowed and that
 * writing is not. Only where machine_rights_offset() is not 0. */
static inline uint32_t machine_rights_read(void)
{
    uint32_t rights;
    __asm__ volatile("rdpkru" : "=a"(rights) : "c"(0) : "rdx");
    return rights;
}

/* No access to memory moves across it. */
static inline void machine_rights_write(uint32_t rights)
{
    __asm__ volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory");
}

/* Where the kernel keeps them in the frame of a signal handler (XSAVE's standard format); 0: there are none, or the
 * kernel uses none. */
static inline uint32_t machine_rights_offset(void)
{
    enum { FEATURES = 7, OSPKE = 1 << 4, STATES = 0xD, RIGHTS = 9 };
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || !(c & OSPKE))
        return 0;
    return __get_cpuid_count(STATES, RIGHTS, &a, &b, &c, &d) ? b : 0;
}

/* MXCSR's control bits and its flags; where x87's control word stands beside the former. */
enum { MACHINE_SSE_CONTROL = 0xFFC0, MACHINE_SSE_FLAGS = 0x3F, MACHINE_X87_SHIFT = 32 };

/* How the calling thread rounds, what it makes of numbers that are too small, and which exceptions end in a signal: the
 * control bits of MXCSR, and x87's control word above them. Never 0. */
static inline uint64_t machine_arithmetic_read(void)
{
    uint32_t sse;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(x87));
    return (sse & MACHINE_SSE_CONTROL) | (uint64_t)x87 << MACHINE_X87_SHIFT;
}

/* The flags stay the thread's own. Those of x87 go to MXCSR where its next instruction would trap because of an old one
 * (Intel's manual, volume 1, 8.6); fetestexcept() reads both. */
static inline void machine_arithmetic_write(uint64_t arithmetic)
{
    uint32_t sse;
    uint16_t status;
    uint16_t x87 = (uint16_t)(arithmetic >> MACHINE_X87_SHIFT);
    __asm__ volatile("stmxcsr %0\n\tfnstsw %1" : "=m"(sse), "=m"(status));
    sse = (sse & ~(uint32_t)MACHINE_SSE_CONTROL) | ((uint32_t)arithmetic & MACHINE_SSE_CONTROL);
    if ((status & MACHINE_SSE_FLAGS & ~x87) != 0) {
        sse |= status & MACHINE_SSE_FLAGS;
        __asm__ volatile("fnclex");
    }
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(sse), "m"(x87));
}
#elif defined(__aarch64__)
enum {
    MACHINE_R_COPY = R_AARCH64_COPY,
    MACHINE_R_GLOB_DAT = R_AARCH64_GLOB_DAT,
    MACHINE_R_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    MACHINE_R_ADDRESS = R_AARCH64_ABS64
};

static inline uint32_t machine_instruction(uintptr_t place)
{
    return *(const uint32_t *)place;
}

/* The low `bits` bits as a signed number. */
static inline intptr_t machine_signed(uint64_t value, unsigned bits)
{
    return (intptr_t)(value << (64 - bits)) >> (64 - bits);
}

static inline uintptr_t machine_call_target(uintptr_t return_address)
{
    uint32_t call = machine_instruction(return_address - 4);
    bool is_branch_and_link = (call & 0xFC000000) == 0x94000000;
    return is_branch_and_link ? return_address - 4 + (uintptr_t)(machine_signed(call, 26) * 4) : 0;
}

static inline uintptr_t machine_call_slot(uintptr_t return_address)
{
    return 0;
}

/* Permission overlays (FEAT_S1POE), which would be as good, are not known here. */
static inline uint32_t machine_rights_read(void)
{
    return 0;
}

static inline void machine_rights_write(uint32_t rights)
{
    (void)rights;
}

static inline uint32_t machine_rights_offset(void)
{
    return 0;
}

/* FPCR, and a bit that it has not, so that it is never 0. */
static inline uint64_t machine_arithmetic_read(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control | UINT64_C(1) << 32;
}

static inline void machine_arithmetic_write(uint64_t arithmetic)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)(uint32_t)arithmetic));
}

/* The slot of a jump in the linkage table: [bti c] adrp x16, page; ldr x17, [x16, offset] */
static inline uintptr_t machine_jump_slot(uintptr_t place)
{
    place += machine_instruction(place) == 0xD503245F ? 4 : 0;
    uint32_t page = machine_instruction(place);
    uint32_t load = machine_instruction(place + 4);
    if ((page & 0x9F00001F) != 0x90000010 || (load & 0xFFC003FF) != 0xF9400211)
        return 0;
    uint64_t pages = ((uint64_t)(page >> 5) & 0x7FFFF) << 2 | ((page >> 29) & 3);
    return (place & ~(uintptr_t)4095) + (uintptr_t)(machine_signed(pages, 21) * 4096) + ((load >> 10) & 0xFFF) * 8;
}
#else
#error "Lapwing runs on x86-64 and aarch64"
#endif

#endif
