/* SPDX-License-Identifier: MIT */
/* Addresses, where the program may have only so many (RLIMIT_AS, `ulimit -v`), or
 * so much private memory that it may write (RLIMIT_DATA, `ulimit -d`). */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* What must be left beside the stack for heap and threads. TO_HOLD: when Lapwing takes addresses. BESIDE: when the
 * program does, while Lapwing has some: the difference is what small blocks may take, which nobody is asked for.
 * SMALL, LARGE: what the program, or Lapwing, takes below that is not asked for. */
enum { BASE_ROOM_TO_HOLD_BYTES = 32 << 20, BASE_ROOM_BESIDE_BYTES = 16 << 20 };
enum { BASE_ROOM_SMALL_BYTES = 64 << 10, BASE_ROOM_LARGE_BYTES = 1 << 20 };

/* Asked of the kernel each time, some 0.1 us: another process may set limits, too (prlimit(2)). */
bool base_room_is_limited(void);

/* By RLIMIT_DATA? */
bool base_room_is_limited_data(void);

/* SIZE_MAX where they are not limited; 0 where that is not known. */
size_t base_room_left_bytes(void);

/* When these addresses are taken as well, are so many left that the first thread's stack can grow up to its own limit,
 * and spare_bytes besides? A stack that cannot grow ends the process. Never, where addresses are limited and the stack
 * is not; always, where they are not. RLIMIT_DATA only has to leave spare_bytes. Safe in signal context. */
bool base_room_remains(size_t taken_bytes, size_t spare_bytes);

#endif
