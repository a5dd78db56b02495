/* SPDX-License-Identifier: MIT */
/* Where in the program a Fortran call stands. An entry that a Fortran binding calls
 * finds the binding's address on the stack, the same for every send of the program.
 * So the program's own jumps to mpi_send_ and its kin lead through stubs that note
 * who calls. Only policy and report look at it: a caller that is not noted (a call
 * through a pointer, a module that loaded its MPI privately) shares the binding's
 * site, or that of the call before. */
#ifndef BIND_FORTRAN_CALLERS_H
#define BIND_FORTRAN_CALLERS_H

#include "base/object.h"

/* Two walks over the program's objects, and one step between them outside of any walk
 * (the dynamic linker's locks): which names are wanted; whom the dynamic linker would
 * choose for them; then their calls lead through the stubs. */
void fortran_callers_want(const struct object *object);
void fortran_callers_prepare(void);
void fortran_callers_note(const struct object *object);

/* A binding's code: calls that come from there are looked up. */
void fortran_callers_add_binding(const struct object *object);

/* `return_address`, or, when that lies in a binding, the place in the program that
 * this thread called the binding from. */
const void *fortran_call_site(const void *return_address);

#endif
