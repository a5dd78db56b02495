/* SPDX-License-Identifier: MIT */
/* Is this process one that Lapwing stays out of, by what the environment says of ranks and programs? */
#ifndef BASE_SELECTION_H
#define BASE_SELECTION_H

#include <stdbool.h>

/* LAPWING_EXCLUDE_RANKS or LAPWING_EXCLUDE_PROGRAMS names it, or LAPWING_INCLUDE_RANKS or LAPWING_INCLUDE_PROGRAMS
 * names others only. A program has the name that it was started by, and that of its file (for a script both are the
 * interpreter's); the lists have patterns as in the shell, fnmatch(3), with commas between them. What has no rank is no
 * rank: a launcher, a tool. A list that is empty says nothing. No allocation, no locale: before main. */
bool base_selection_leaves_out(void);

#endif
