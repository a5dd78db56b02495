/* SPDX-License-Identifier: MIT */
/* Stalls: the program waits in a call, or at a touch. What it waits must not be taken for overlap. */
#ifndef OP_STALL_H
#define OP_STALL_H

#include <stdint.h>

/* Signal context allowed. */
void stall_begin(void);
void stall_end(void);

/* Time of all stalls so far. One thread's are counted at a time. */
int64_t stall_total_ns(void);

/* A clock that stands still meanwhile. */
int64_t stall_ran_ns(void);

/* A stall of the calling thread in a call: the engine stays out meanwhile. Returns the
 * wait's number, to end it with; one that a longjmp has left was ended by
 * transfer_leave_waits(). */
uint32_t stall_wait_begin(void);
void stall_wait_end(uint32_t wait);

#endif
