/* SPDX-License-Identifier: MIT */
/* Functions of other libraries that Lapwing stands before by their name. */
#ifndef BASE_BEHIND_H
#define BASE_BEHIND_H

/* The function of that name that `caller`, an address in its code, would have called without Lapwing: a process may
 * have several libraries that define it. NULL: there is none. Takes the loader's lock. */
void *base_behind(const void *caller, const char *name);

#endif
