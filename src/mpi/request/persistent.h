/* SPDX-License-Identifier: MIT */
/* Persistent requests; most of it is about sends that are over for the program, and go on as an op (sent.h). The
 * program keeps its requests, inactive, as after its wait (MPI 4.1, 3.9); for MPI they are active until the op is over.
 * So calls that complete requests see MPI_REQUEST_NULL in their place, of which MPI says the same as of an inactive
 * one; MPI_Start and all else waits. */
#ifndef MPI_REQUEST_PERSISTENT_H
#define MPI_REQUEST_PERSISTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* One has been made, and tracked. With some libraries none may be asked whether it is over (requests_loss()). */
void persistent_note(MPI_Request request, bool is_send);

/* The same of a persistent collective of several buffers or none, or of a partitioned message. */
void persistent_note_collective(MPI_Request request);

/* Puts MPI_REQUEST_NULL in their place. True: there are some. `keys` tells the handles (request_key.h). */
bool persistent_hide(int count, MPI_Request *requests, const uint64_t *keys);

/* Puts those handles back that MPI was not to see: since then, or taken by an op. */
void persistent_show(int count, MPI_Request *requests, const uint64_t *keys);

/* Before a call that may not see them: waits for their ops. Not inside the gate. */
void persistent_await(int count, const MPI_Request *requests);

#endif
