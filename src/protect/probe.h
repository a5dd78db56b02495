/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_PROBE_H
#define PROTECT_PROBE_H

#include <stdbool.h>

/* Makes one hold of each kind on memory of its own, with the backend that has
 * been started, and looks whether everything came back. Containers and security
 * modules refuse single calls, so only a full round tells. */
bool probe_holds(void);

#endif
