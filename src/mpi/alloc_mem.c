/* SPDX-License-Identifier: MIT */
/* MPI_Alloc_mem (MPI 4.1, 9.2). What it gives may lie among MPI's own data: Intel MPI takes both from one pool, that of
 * its messages that have come before their receive among them. */
#include "base/options.h"
#include "libc/heap.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"

int entry_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    dispatch_wait_argument(baseptr, sizeof(void *));
    dispatch_enter();
    int result = real.MPI_Alloc_mem(size, info, baseptr);
    bool holds_messages = size > 0 && (uint64_t)size >= options.threshold_bytes; /* that are not small */
    if (result == MPI_SUCCESS && holds_messages)
        libc_heap_note_given(base_range_of(*(void **)baseptr, (size_t)size));
    return dispatch_leave(result);
}
