/* SPDX-License-Identifier: MIT */
/* Names of this processor's relocation types; the only place that asks which
 * processor it is. */
#ifndef INTERCEPT_MACHINE_H
#define INTERCEPT_MACHINE_H

#include <elf.h>

#if defined(__x86_64__)
enum {
    MACHINE_R_COPY = R_X86_64_COPY,
    MACHINE_R_GLOB_DAT = R_X86_64_GLOB_DAT,
    MACHINE_R_JUMP_SLOT = R_X86_64_JUMP_SLOT,
    MACHINE_R_ADDRESS = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
    MACHINE_R_COPY = R_AARCH64_COPY,
    MACHINE_R_GLOB_DAT = R_AARCH64_GLOB_DAT,
    MACHINE_R_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    MACHINE_R_ADDRESS = R_AARCH64_ABS64
};
#else
#error "Lapwing runs on x86-64 and aarch64"
#endif

#endif
