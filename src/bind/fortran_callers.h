/* SPDX-License-Identifier: MIT */
/* The program's own jumps to mpi_send_ and its kin lead through stubs that note who calls, so
 * that each line of a Fortran program is a call site of its own (op/call_site.h). */
#ifndef BIND_FORTRAN_CALLERS_H
#define BIND_FORTRAN_CALLERS_H

#include "base/object.h"

/* Two walks over the program's objects, and one step between them outside of any walk
 * (the dynamic linker's locks): which names are wanted; whom the dynamic linker would
 * choose for them; then their calls lead through the stubs. */
void fortran_callers_want(const struct object *object);
void fortran_callers_prepare(void);
void fortran_callers_note(const struct object *object);

#endif
