/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_KEYS_H
#define PROTECT_KEYS_H

#include <stdbool.h>

/* Takes two protection keys. From then on holds.rights says which bits they are, and the calling thread has the
 * program's rights. False where there are none. From one thread. */
bool keys_take(void);

/* While nothing is held by them. The calling thread has no rights by their numbers then, which is the kernel's default.
 * MPI's threads keep theirs: a later key may get such a number (pkeys(7)). */
void keys_give_back(void);

#endif
