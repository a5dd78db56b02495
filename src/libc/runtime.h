/* SPDX-License-Identifier: MIT */
/* Code that runs in a program's process and touches nothing of the program's. All take the loader's lock. */
#ifndef LIBC_RUNTIME_H
#define LIBC_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Does code lie in a library whose own threads call nothing of the program's: one that only calculates (OpenBLAS alone
 * and with NumPy and SciPy), or that carries messages? */
bool libc_runtime_never_calls(uintptr_t code);

/* The same, or in a runtime whose threads share out the work of a call of the program's (OpenMP's)? */
bool libc_runtime_is_team(uintptr_t code);

/* Does code lie in a library that carries messages (base/libraries.h)? */
bool libc_runtime_is_transport(uintptr_t code);

/* The same, or in a library below or beside those, whose threads MPI may begin? */
bool libc_runtime_is_of_mpi(uintptr_t code);

/* Does code lie in a library that carries messages, or in the runtime of a language (gfortran's, Python's)? */
bool libc_runtime_is_any(uintptr_t code);

#endif
