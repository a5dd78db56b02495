/* SPDX-License-Identifier: MIT */
/* The picture of a run that is not profiled: what became of each op, and why calls were passed, by call site. It is a
 * profile's file (record/profile_format.h) whose sites are those of ops; `lapwing run --timeline N` reads it. */
#ifndef PROFILE_PICTURE_H
#define PROFILE_PICTURE_H

#include "op/observer.h"

/* As observer.h says. Nothing comes of them where the file cannot be made. */
void picture_start(const struct profile_file_identity *identity);
void picture_op_over(const struct observer_op *op);
void picture_op_passed(const void *place, enum policy_direction direction, enum reason reason, uint64_t bytes);
void picture_engine_polled(int64_t begin_ns, int64_t end_ns);

#endif
