/* SPDX-License-Identifier: MIT */
#ifndef PROTECT_REFUSAL_H
#define PROTECT_REFUSAL_H

/* Ends the process with a line: the kernel does not `act`, as errno `error` says, and to go on would be to `harm`. */
_Noreturn void refusal_end(const char *act, int error, const char *harm);

#endif
