/* SPDX-License-Identifier: MIT */
/* Does this process have anything open that may know its memory by physical page: an RDMA device, a GPU, a ring of
 * io_uring with registered buffers? Such a device goes on with the pages that it knows, wherever a hold has moved
 * them, and writes into memory that is still being sent. What is not known to be harmless may be one. */
#ifndef OP_DEVICES_H
#define OP_DEVICES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/reasons.h"

enum { DEVICES_UNLISTED = -1 };

/* REASON_TRANSPORT, unless these are allowed, REASON_MEMORY_DEVICE, or REASON_NONE. *lowest_free keeps the lowest
 * number that was free when descriptors were last listed, first DEVICES_UNLISTED. Lists them again when that number is
 * in use, since open() takes it; else one system call. Any thread; relaxed: a number means nothing to a thread that did
 * not open it. */
enum reason devices_look(_Atomic int *lowest_free, bool allows_transports);

/* Has this host what is open where RDMA devices carry messages? A few system calls. */
bool devices_may_be_transports(void);

/* This descriptor, or one from it on, is closed or replaced: what is opened next may take its number, unseen. */
void devices_note_closed(_Atomic int *lowest_free, unsigned number);

#endif
