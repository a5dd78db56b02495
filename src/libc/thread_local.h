/* SPDX-License-Identifier: MIT */
/* Thread-local variables. The first thread's arrays of the program (`__thread`, Fortran's THREADPRIVATE) lie between
 * libc's, MPI's and ours, which nobody can do without for as long as a message takes. Those of other threads lie on
 * their stacks (threads.h). */
#ifndef LIBC_THREAD_LOCAL_H
#define LIBC_THREAD_LOCAL_H

#include "base/range.h"

/* Where this thread has those of what was loaded at the start, and what lies around them. */
struct range libc_thread_local_find(void);

#endif
