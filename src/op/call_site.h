/* SPDX-License-Identifier: MIT */
/* Where in the program a call stands. An entry that one of MPI's Fortran bindings calls finds the
 * binding's address on the stack, the same for every send of the program; so the program's jumps to
 * mpi_send_ and its kin note where they come from (bind/fortran_callers.h). Only policy and report
 * look at it: a caller that is not noted (a call through a pointer, a module that loaded its MPI
 * privately) shares the binding's site, or that of the call before. */
#ifndef OP_CALL_SITE_H
#define OP_CALL_SITE_H

#include <stdbool.h>

#include "base/range.h"

/* A binding's code: calls that come from there are looked up. One thread at a time. */
void call_site_add_binding(struct range code);

/* Has one been added? Any thread. */
bool call_site_has_bindings(void);

/* `return_address`, or, when that lies in a binding, the place in the program that this thread
 * called the binding from. */
const void *call_site_of(const void *return_address);

#endif
