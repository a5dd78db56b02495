/* SPDX-License-Identifier: MIT */
/* The first thread's thread-local variables: the program's arrays (`__thread`, Fortran's THREADPRIVATE) lie between
 * libc's, MPI's and ours, which nobody can do without for as long as a message takes. Those of other threads lie on
 * their stacks (threads.h). */
#ifndef LIBC_THREAD_LOCAL_H
#define LIBC_THREAD_LOCAL_H

#include <stdbool.h>

#include "base/range.h"

/* Does one of these bytes lie there? Any thread. */
bool libc_thread_local_touches(struct range bytes);

#endif
