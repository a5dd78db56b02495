/* SPDX-License-Identifier: MIT */
/* Which line of the program's own code a touch belongs to, when it comes from a library:
 * libc's memcpy, a BLAS. (Calls by way of MPI's Fortran bindings: op/call_site.h.) */
#ifndef PROFILE_CALLER_H
#define PROFILE_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the list of loaded files; those that are new go to the profile. Not for signal context. */
void caller_modules_read(void);

/* True when the address lies in a file that is known. */
bool caller_is_known(uintptr_t address);

/* The instruction of an access, or, when that lies in a system library, the return address of the
 * program's call that led there, from the stack. `is_call` says which. Signal context allowed. */
uintptr_t caller_of_access(uintptr_t instruction, uintptr_t stack, bool *is_call);

/* Tells this thread where its stack ends; until then, little of it is looked at. */
void caller_thread_begin(void);

#endif
