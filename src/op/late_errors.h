/* SPDX-License-Identifier: MIT */
/* Errors of ops, which come after their call has returned: kept here, and returned by a later call that moves or
 * completes messages (dispatch_leave_and_tell()). Codes are MPI's; 0 is MPI_SUCCESS, whatever the ABI. */
#ifndef OP_LATE_ERRORS_H
#define OP_LATE_ERRORS_H

/* An op failed with this code. Whoever tests it. */
void late_errors_keep(int code);

/* The oldest code not yet returned, or 0. */
int late_errors_take(void);

/* What a call returns: its own result, or when that is 0 a late error. */
int late_errors_or(int result);

#endif
