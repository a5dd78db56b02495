/* SPDX-License-Identifier: MIT */
/* A hold covers whole pages. Who else lives on its first and last page? */
#ifndef INTERCEPT_NEIGHBOURS_H
#define INTERCEPT_NEIGHBOURS_H

#include "base/pages.h"
#include "base/reasons.h"

/* REASON_NONE when nothing that MPI itself may touch shares a page with these
 * bytes: no small heap block, no buffer of a request of the program, no thread
 * that is inside MPI now. */
enum reason neighbours_check(struct range bytes);

/* Under MPI_THREAD_MULTIPLE two threads may race: one arms a hold while another
 * enters MPI with a buffer on the same page. Each hold that shares a page bumps
 * the generation before it looks for threads inside; each call notes it before
 * its own look at the holds and compares once it is inside. */
unsigned neighbours_generation(void);

#endif
