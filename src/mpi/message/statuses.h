/* SPDX-License-Identifier: MIT */
/* Provisional statuses. MPI_SOURCE and MPI_TAG of a deferred receive with a
 * named source and tag are known at once; the count is only readable through
 * MPI's own functions. So its hidden 64 bits carry a mark until one of those
 * asks: [63:60] MARK | [59:32] number of the receive | [31:0] expected bytes (at
 * most 2^32 - 1).
 * No real count comes near 2^62. The mark survives copies of the status. */
#ifndef MPI_MESSAGE_STATUSES_H
#define MPI_MESSAGE_STATUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

/* MPI_STATUS(ES)_IGNORE, or a null pointer that MPI itself will complain about. */
static inline bool status_is_ignored(const MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE || status == NULL;
}

/* Can a receive get a provisional status? No longer after 2^28 of them, or when
 * 4 million messages came shorter than their buffer: then match first (matched.h). */
bool statuses_can_promise(void);

/* Fills what is known and the mark; returns the number of the receive. */
uint32_t statuses_promise(MPI_Status *status, int source, int tag, uint64_t expected_bytes);

/* The receive is over: remembers the status if it is not as expected. */
void statuses_settle(uint32_t number, uint64_t expected_bytes, const MPI_Status *real_status);

/* The length of a message that a probe or a receive has told; MPI_UNDEFINED when it tells none. */
MPI_Count statuses_length_bytes(const MPI_Status *status);

/* Gives the program's status what MPI_Recv would write: all but MPI_ERROR
 * (MPI 4.1, 3.2.5), which single completions leave alone. */
void statuses_copy(MPI_Status *status, const MPI_Status *real_status);

#endif
