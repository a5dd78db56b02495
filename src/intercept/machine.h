/* SPDX-License-Identifier: MIT */
/* Names of this processor's relocation types; the only place that asks which
 * processor it is. */
#ifndef INTERCEPT_MACHINE_H
#define INTERCEPT_MACHINE_H

#include <elf.h>

#if defined(__x86_64__)
enum { MACHINE_R_COPY = R_X86_64_COPY };
#elif defined(__aarch64__)
enum { MACHINE_R_COPY = R_AARCH64_COPY };
#else
#error "Lapwing runs on x86-64 and aarch64"
#endif

#endif
