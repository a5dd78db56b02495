/* SPDX-License-Identifier: MIT */
/* Whose MPI is it, where an ABI has several and they differ? */
#ifndef MPI_VENDOR_H
#define MPI_VENDOR_H

#include <stdbool.h>

/* Intel's? Once MPI has been bound. */
bool vendor_is_intel(void);

#endif
