/* SPDX-License-Identifier: MIT */
/* MPI_THREAD_MULTIPLE: a call may enter the gate without looking at its memory first, where nothing is pending. */
#ifndef OP_IDLE_H
#define OP_IDLE_H

#include <stdbool.h>

/* Enters the gate if nothing is held, being held, pending, or to be told; else it does not, and returns false. */
bool idle_enter(void);

/* Is nothing pending still? Then there is nothing to do after the call but to leave. */
bool idle_is_still(void);

#endif
