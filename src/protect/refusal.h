/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_REFUSAL_H
#define PROTECT_REFUSAL_H

#include "base/range.h"

/* Ends the process with a line: the kernel does not `act`, as errno `error` says, and to go on would be to `harm`. */
_Noreturn void refusal_end(const char *act, int error, const char *harm);

/* Memory of a message cannot be opened. Ends the process, unless the program has no mapping there any more. */
void refusal_end_open(struct range pages, int error);

#endif
