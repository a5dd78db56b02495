/* SPDX-License-Identifier: MIT */
/* Which line of the program's own code a call or a touch belongs to, when it comes from
 * a library: MPI's Fortran bindings, libc's memcpy, a BLAS. */
#ifndef INTERCEPT_CALLER_H
#define INTERCEPT_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the list of loaded files; those that are new go to the profile. Not for signal context. */
void caller_modules_read(void);

/* True when the address lies in a file that is known. */
bool caller_is_known(uintptr_t address);

/* The return address of a call as the program wrote it: `return_address`, or, when that lies in
 * MPI's Fortran bindings, the one of the call that led there, from the stack above `frame`. */
uintptr_t caller_of_call(uintptr_t return_address, const void *frame);

/* The same for an access: the instruction, or the call that led to the library it lies in.
 * `is_call` says which. Signal context allowed. 0: not found. */
uintptr_t caller_of_access(uintptr_t instruction, uintptr_t stack, bool *is_call);

/* Tells this thread where its stack ends; until then, little of it is looked at. */
void caller_thread_begin(void);

#endif
