/* SPDX-License-Identifier: MIT */
/* Samples of slack. */
#ifndef PROFILE_SLACK_H
#define PROFILE_SLACK_H

#include <stdint.h>

#include "record/profile_file.h"

/* Keys of profile_file_bits() that are told apart for a site. */
enum { PROFILE_BITS_MAX = 64 };

/* A sample: for waits, and for touches. Not for signal context. */
void slack_add(struct profile_format_site *site, int64_t start_ns, int64_t wall_ns, int64_t computation_ns);

#endif
