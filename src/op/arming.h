/* SPDX-License-Identifier: MIT */
/* Under MPI_THREAD_MULTIPLE two threads may race: one arms a hold while another enters
 * MPI with a buffer on the same page. Arming begins before neighbours_check() looks for
 * threads inside and ends when the hold is armed; each call notes the moment before its
 * own look at the holds, and asks once it is inside whether it must look again. */
#ifndef OP_ARMING_H
#define OP_ARMING_H

#include <stdbool.h>
#include <stdint.h>

void arming_begin(void);
void arming_end(void);

/* Never 0. */
uint64_t arming_moment(void);

/* Is a hold being armed? */
bool arming_is_under_way(void);

/* Was a hold being armed at that moment, or has one been since? */
bool arming_came_between(uint64_t moment);

#endif
