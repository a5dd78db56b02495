/* SPDX-License-Identifier: MIT */
/* A hold covers whole pages. Who else lives on its first and last page, or in the
 * gaps between the bytes of a message? */
#ifndef OP_NEIGHBOURS_H
#define OP_NEIGHBOURS_H

#include <stdbool.h>

#include "base/range.h"
#include "base/reasons.h"

/* REASON_NONE when nothing that MPI itself may touch shares a page with these
 * bytes: no small heap block, no buffer of a request of the program, no thread
 * that is inside MPI now. `has_gaps`: not all of the bytes are the message's.
 * `may_hide_gaps`: a send may name bytes twice and leave out as many, where MPI may
 * be receiving. */
enum reason neighbours_check(struct range bytes, bool has_gaps, bool may_hide_gaps);

#endif
