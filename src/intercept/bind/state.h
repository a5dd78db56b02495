/* SPDX-License-Identifier: MIT */
/* What the files of this folder share about the binding. */
#ifndef INTERCEPT_BIND_STATE_H
#define INTERCEPT_BIND_STATE_H

#include <stdbool.h>

#include "intercept/bind/library.h"

/* Binds unless that is done; false when no MPI library is loaded, or while this thread binds. */
bool bind_try(void);

/* The rest once bind_try() has returned true. */

/* True for MPI functions of the table that this process's MPI lacks. */
bool bind_is_absent(const char *name);
enum library_abi bind_abi(void);

#endif
