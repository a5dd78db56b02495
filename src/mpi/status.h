/* SPDX-License-Identifier: MIT */
/* Provisional statuses. MPI_SOURCE and MPI_TAG of a deferred receive with a
 * named source and tag are known at once; the count is only readable through
 * MPI's own functions. So its hidden 64 bits carry a mark until one of those
 * asks: [63:60] MARK | [59:33] number of the receive | [32] 0 | [31:0] expected
 * bytes (at most 2^32 - 1). Bit 32 is where MPICH says that a message was cancelled.
 * No real count comes near 2^62. The mark survives copies of the status. */
#ifndef MPI_STATUS_H
#define MPI_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

/* MPI_STATUS(ES)_IGNORE, or a null pointer that MPI itself will complain about. */
static inline bool status_is_ignored(const MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE || status == NULL;
}

/* Can a receive get a provisional status? No longer after 2^27 of them, or when
 * 4 million messages came shorter than their buffer: then match first (message/matched.h). */
bool status_can_promise(void);

/* Fills what is known and the mark; returns the number of the receive. */
uint32_t status_promise(MPI_Status *status, int source, int tag, uint64_t expected_bytes);

/* The receive is over: remembers the status if it is not as expected. */
void status_settle(uint32_t number, uint64_t expected_bytes, const MPI_Status *real_status);

/* The length of a message that a probe or a receive has told; MPI_UNDEFINED when it tells none. */
MPI_Count status_length_bytes(const MPI_Status *status);

/* What a receive has brought; the room for it where its status does not tell. */
uint64_t status_came_bytes(const MPI_Status *status, uint64_t room_bytes);

/* Gives the program's status what MPI_Recv would write: all but MPI_ERROR
 * (MPI 4.1, 3.2.5), which single completions leave alone. */
void status_copy(MPI_Status *status, const MPI_Status *real_status);

/* Returns `status`, or, when it is provisional, waits for its op and returns
 * `storage` filled with the true status. */
const MPI_Status *status_settled(const MPI_Status *status, MPI_Status *storage);

/* The same in the program's own status, before MPI changes a part of it: what
 * settles it later would undo the change. */
void status_settle_in_place(MPI_Status *status);

#endif
