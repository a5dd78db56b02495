/* SPDX-License-Identifier: MIT */
/* What a thread waited for on behalf of the MPI call that it is about to enter. Under MPI_THREAD_MULTIPLE another
 * thread may arm a hold on the same pages before the call is inside (arming.h): then it must wait once more. Below
 * that level nothing is noted. */
#ifndef OP_NOTED_H
#define OP_NOTED_H

#include <stdbool.h>

#include "base/range.h"

/* The call names these bytes, or memory of which nothing is known. Before the first look at the holds. */
void noted_add(struct range bytes, bool is_read);
void noted_add_unknown(void);

/* The call has entered the gate, where others may be, too: as long as a hold may have been armed on what was noted,
 * leaves it, waits once more for all of that, and enters again. Then nothing is noted any more. */
void noted_catch_up(void);

/* The call has entered where nothing is held: what it has waited for concerns no later call. */
void noted_forget(void);

/* Waits for whatever memory a call may use. Another thread's op counts only where it has memory: what ends one that
 * sends a copy of ours may wait for this thread's next call. */
void noted_wait_any_memory(void);

#endif
