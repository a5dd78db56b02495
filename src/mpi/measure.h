/* SPDX-License-Identifier: MIT */
/* What a measured call moves, and where. For the generated wrappers (mpi/measures.py),
 * which stand before the entries while a profile is wanted. */
#ifndef MPI_MEASURE_H
#define MPI_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "abi.h"
#include "profile/observe.h"
#include "profile/profile.h"
#include "mpi/block_lists.h"
#include "mpi/request_key.h"

/* Before the call: it is about to use this memory, so nothing may be closed there. */
void measure_uses_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype, bool is_read);
void measure_sends_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype);
void measure_uses_argument(const void *argument, size_t length_bytes);
void measure_uses_requests(int count, const MPI_Request requests[]);

/* Bytes of so many elements; 0 when the layout is not known. */
int64_t measure_bytes(MPI_Count count, MPI_Datatype datatype);
int64_t measure_sum(struct argument_buffer_list counts, int count, MPI_Datatype datatype);
int64_t measure_sum_types(struct argument_buffer_list counts, int count, const MPI_Datatype datatypes[]);

/* A message to or from `peer`. */
void measure_message(struct profile_call *call, MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm);

/* The program's status, or `own` when it wants none: what came is read from it. */
MPI_Status *measure_status(MPI_Status *status, MPI_Status *own);
void measure_receipt(struct profile_call *call, const MPI_Status *status, MPI_Comm comm);

/* A matched message says nothing of its communicator: its sender is not told. */
void measure_matched_receipt(struct profile_call *call, const MPI_Status *status);

/* The larger one of what a call sends and receives. */
void measure_volume(struct profile_call *call, int64_t bytes);

/* Collectives. */
int measure_size(MPI_Comm comm);
bool measure_is_root(int root, MPI_Comm comm);
bool measure_is_between_groups(MPI_Comm comm);

/* What its calls add, and how: whether Lapwing may carry them out in the background. */
void measure_reduction(struct profile_call *call, MPI_Op op, MPI_Datatype datatype, MPI_Comm comm);

/* A communicator was freed: its handle may come back as another one. */
void measure_forget_communicators(void);

/* --- requests --- */

/* Never 0 for a request that may be known. */
static inline uint64_t measure_key(MPI_Request request)
{
    return request == abi_handles.request_null ? 0 : request_key(request);
}

enum { MEASURE_KEYS_INLINE = 64 };

/* Handles as they were before a call that may change them. */
struct measure_keys {
    int count; /* 0 when there was no memory for them */
    uint64_t *keys;
    uint64_t inline_keys[MEASURE_KEYS_INLINE];
};

void measure_keys_take(struct measure_keys *keys, int count, const MPI_Request requests[]);
void measure_keys_free(struct measure_keys *keys);

void measure_ended(struct profile_completion *completion, const struct measure_keys *keys, int index);
void measure_ended_some(struct profile_completion *completion, const struct measure_keys *keys, int count,
                        const int indices[]);
void measure_ended_all(struct profile_completion *completion, const struct measure_keys *keys);

void measure_completion(struct profile_call *call, const struct profile_completion *completion);
void measure_restarted(struct profile_call *call, int count, const MPI_Request requests[]);

/* --- slack of blocking calls --- */

/* Adds a buffer that is large enough to be watched. */
void measure_buffer(struct observe_buffers *buffers, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                    bool is_received);

/* The same of one with counts block by block. */
void measure_list(struct observe_buffers *buffers, const void *buffer, const struct block_lists_side *side,
                  bool is_received);

/* Of counts rank by rank: this rank's, and their sum. */
MPI_Count measure_count_own(struct argument_buffer_list counts, MPI_Comm comm);
MPI_Count measure_count_all(struct argument_buffer_list counts, MPI_Comm comm);

static inline void measure_observe(const struct profile_call *call, const struct observe_buffers *buffers)
{
    if (buffers->count != 0)
        observe_call(call->site, buffers);
}

#endif
