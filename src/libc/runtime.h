/* SPDX-License-Identifier: MIT */
/* Code that runs in a program's process and touches nothing of the program's. All take the loader's lock. */
#ifndef LIBC_RUNTIME_H
#define LIBC_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Does code lie in a library that only calculates, with threads of its own that call nothing of the program's (OpenBLAS
 * alone and with NumPy and SciPy)? */
bool libc_runtime_is_mathematics(uintptr_t code);

/* Does code lie in a library that carries messages (base/libraries.h)? */
bool libc_runtime_is_transport(uintptr_t code);

/* The same, or in the runtime of a language (gfortran's, Python's)? */
bool libc_runtime_is_any(uintptr_t code);

#endif
