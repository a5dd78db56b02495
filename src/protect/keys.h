/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_KEYS_H
#define PROTECT_KEYS_H

#include <stdbool.h>

/* Takes two protection keys. From then on holds.rights says which bits they are, and the calling thread has the
 * program's rights. False where there are none. From one thread. */
bool keys_take(void);

/* While nothing is held by them. Threads keep what rights they had by them (pkeys(7)): those of MPI more than a thread
 * has by another key that is new. */
void keys_give_back(void);

#endif
