/* SPDX-License-Identifier: MIT */
/* What is asked of a file before it is written. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* May `length_bytes` more be appended to this open file? Not to another user's, nor to one that has a second name,
 * which others may have given it: such a file is not of our making. */
bool record_file_is_fit(int file, uint64_t length_bytes);

/* Is this open file the user's own, and at least as long? */
bool record_file_is_own(int file, uint64_t length_bytes);

/* May a file of this process be as long? Writing past the limit would end it (SIGXFSZ, setrlimit(2)). */
bool record_file_may_reach(uint64_t end_bytes);

#endif
