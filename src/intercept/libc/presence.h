/* SPDX-License-Identifier: MIT */
#ifndef LIBC_PRESENCE_H
#define LIBC_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>

/* Notes which of these names some library of the process may define, apart from Lapwing's own. Sets what is
 * found, and leaves the rest as it is. Allocates nothing, in contrast to a dlsym() that fails. */
void libc_presence_find(const char *const names[], bool are_present[], size_t count);

#endif
