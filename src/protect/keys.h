/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_KEYS_H
#define PROTECT_KEYS_H

#include <stdbool.h>

/* Takes two protection keys, for good: threads keep rights by them. From then on holds.rights says which bits they are,
 * and the calling thread has the program's rights. False where there are none. Once, from one thread. */
bool keys_take(void);

#endif
