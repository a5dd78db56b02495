/* SPDX-License-Identifier: MIT */
/* The libraries with an MPI's Fortran bindings. They convert handles, sentinels
 * and statuses, and then call C: MPI_X, which is ours like everybody's, or PMPI_X
 * (all of Open MPI's since its commit 291a464efb; in MPICH those of mpi_f08 that
 * take no buffer). The second kind is led to our entries by what the dynamic
 * linker wrote into these libraries, and into no others: whoever else calls PMPI_X
 * is a profiling tool or MPI itself, and means MPI's own function.
 * And Open MPI's C++ bindings, for one inner function that both use. */
#ifndef BIND_FORTRAN_BINDINGS_H
#define BIND_FORTRAN_BINDINGS_H

#include <stdbool.h>

#include "base/object.h"

/* Leads an object's calls to our entries if it is one of these libraries. After bind_try(). */
void fortran_bindings_redirect(const struct object *object);

/* Has that been done to any? */
bool fortran_bindings_are_redirected(void);

/* True when the Fortran calls of this process are seen: it calls no Fortran
 * binding of MPI's but those that were redirected. */
bool fortran_bindings_are_seen(void);

#endif
