/* SPDX-License-Identifier: MIT */
/* Does this process have anything open that may know its memory by physical page: an RDMA device, a GPU, a ring of
 * io_uring with registered buffers? Such a device goes on with the pages that it knows, wherever a hold has moved
 * them, and writes into memory that is still being sent. What is not known to be harmless may be one. */
#ifndef OP_DEVICES_H
#define OP_DEVICES_H

#include "base/reasons.h"

/* REASON_TRANSPORT, REASON_MEMORY_DEVICE, or REASON_NONE. Lists the descriptors when the lowest number that was free
 * before is in use, since open() takes that one; else one system call. Any thread. */
enum reason devices_look(void);

/* This descriptor, or one from it on, is closed or replaced: what is opened next may take its number, unseen. */
void devices_note_closed(unsigned number);

#endif
