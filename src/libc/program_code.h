/* SPDX-License-Identifier: MIT */
/* The code of the program: its executable, and the libraries that it is linked with and MPI is not. What is loaded
 * later, what tools bring (LD_PRELOAD), and what both are linked with, as libc, is not taken for it. */
#ifndef LIBC_PROGRAM_CODE_H
#define LIBC_PROGRAM_CODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"

enum { LIBC_PROGRAM_CODE_MAX = 64 };

/* All zero: empty. Written once, by who sets MPI up. count: release, after the ranges. */
struct libc_program_code {
    struct range ranges[LIBC_PROGRAM_CODE_MAX];
    _Atomic uint32_t count;
};

/* When MPI is loaded. Takes the loader's lock. */
void libc_program_code_collect(struct libc_program_code *code);

/* Does it lie there? Takes no lock. */
bool libc_program_code_contains(const struct libc_program_code *code, uintptr_t address);

#endif
