/* SPDX-License-Identifier: MIT */
#include "mpi/measure.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/pages.h"
#include "mpi/dispatch.h"
#include "op/requests.h"
#include "mpi/status.h"
#include "mpi/datatypes.h"
#include "mpi/reductions.h"

void measure_uses_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype, bool is_read)
{
    if (count <= 0 || buffer == MPI_IN_PLACE)
        return;
    const struct type_layout *layout = datatype_layout(datatype);
    if (layout->is_known)
        observe_use_range(datatype_span(layout, buffer, count), is_read);
    else
        observe_use_all();
}

void measure_sends_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
    const struct type_layout *layout = datatype_layout(datatype);
    bool is_plain = layout->is_known && count > 0 && !datatype_has_gaps(layout, count);
    if (is_plain && !datatype_may_hide_gaps(layout))
        observe_use_sent(datatype_span(layout, buffer, count));
    else
        measure_uses_buffer(buffer, count, datatype, true);
}

void measure_uses_argument(const void *argument, size_t length_bytes)
{
    if ((uintptr_t)argument > base_page_bytes())
        observe_use_range(base_range_of(argument, length_bytes), false);
}

/* The buffers of persistent requests are known from when they were made. Of one that is not, any
 * memory may be used: a peer in the same host may read it where it lies. */
void measure_uses_requests(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        struct range bytes = requests_range(request_key(requests[i]));
        if (!base_range_is_empty(bytes))
            observe_use_range(bytes, false);
        else
            observe_use_all();
    }
}

int64_t measure_bytes(MPI_Count count, MPI_Datatype datatype)
{
    const struct type_layout *layout = datatype_layout(datatype);
    return layout->is_known && count > 0 ? (int64_t)count * layout->size_bytes : 0;
}

int64_t measure_sum(struct argument_buffer_list counts, int count, MPI_Datatype datatype)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += argument_buffers_at(counts, i);
    return count > 0 ? measure_bytes(sum, datatype) : 0;
}

int64_t measure_sum_types(struct argument_buffer_list counts, int count, const MPI_Datatype datatypes[])
{
    int64_t sum_bytes = 0;
    for (int i = 0; i < count; i++)
        if (argument_buffers_at(counts, i) > 0) /* else there need not be a type */
            sum_bytes += measure_bytes(argument_buffers_at(counts, i), datatypes[i]);
    return sum_bytes;
}

/* --- communicators --- */

/* What is asked again and again about a communicator. */
struct communicator {
    MPI_Comm comm;
    uint32_t generation; /* 0: unused */
    bool is_between_groups;
    int rank;
    int size;         /* of the other group, between two */
    int *world_ranks; /* NULL until asked, or no memory */
};

enum { COMMUNICATOR_BITS = 6 };

/* All threads together: a table for each would be a price of every thread, be a profile wanted or not. */
static struct {
    struct base_lock lock;
    _Atomic uint32_t freed_count; /* relaxed, as datatypes.generation */
    struct communicator entries[1 << COMMUNICATOR_BITS];
} communicators;

void measure_forget_communicators(void)
{
    atomic_fetch_add_explicit(&communicators.freed_count, 1, memory_order_relaxed);
}

static struct communicator communicator_ask(MPI_Comm comm, uint32_t generation)
{
    int is_between = 0;
    struct communicator asked = {.comm = comm, .generation = generation};
    real.MPI_Comm_test_inter(comm, &is_between);
    asked.is_between_groups = is_between != 0;
    real.MPI_Comm_rank(comm, &asked.rank);
    if (is_between)
        real.MPI_Comm_remote_size(comm, &asked.size);
    else
        real.MPI_Comm_size(comm, &asked.size);
    return asked;
}

static uint32_t communicator_now(void)
{
    return 1 + atomic_load_explicit(&communicators.freed_count, memory_order_relaxed);
}

static struct communicator *communicator_entry(MPI_Comm comm)
{
    return &communicators.entries[base_hash((uint64_t)(uintptr_t)comm, COMMUNICATOR_BITS)];
}

static bool communicator_is(const struct communicator *entry, MPI_Comm comm, uint32_t generation)
{
    return entry->comm == comm && entry->generation == generation;
}

/* Not under the lock: a question to MPI may end in an error handler of the program's, which may call MPI. */
static struct communicator communicator_enter(MPI_Comm comm, uint32_t generation)
{
    struct communicator asked = communicator_ask(comm, generation);
    struct communicator *entry = communicator_entry(comm);
    base_lock_take(&communicators.lock);
    int *old_ranks = entry->world_ranks;
    *entry = asked;
    base_lock_release(&communicators.lock);
    free(old_ranks);
    return asked;
}

/* What is known of it, but for the ranks. */
static struct communicator communicator_of(MPI_Comm comm)
{
    uint32_t generation = communicator_now();
    base_lock_take(&communicators.lock);
    struct communicator found = *communicator_entry(comm);
    base_lock_release(&communicators.lock);
    return communicator_is(&found, comm, generation) ? found : communicator_enter(comm, generation);
}

static void world_ranks_ask(MPI_Group group, MPI_Group world, int *ranks, int size)
{
    for (int i = 0; i < size; i++)
        if (real.MPI_Group_translate_ranks(group, 1, &i, world, &ranks[i]) != MPI_SUCCESS)
            ranks[i] = MPI_UNDEFINED;
}

static int *world_ranks_make(const struct communicator *known)
{
    MPI_Group group;
    MPI_Group world;
    int *ranks = malloc((size_t)(known->size > 0 ? known->size : 1) * sizeof *ranks);
    if (ranks == NULL)
        return NULL;
    if (known->is_between_groups)
        real.MPI_Comm_remote_group(known->comm, &group);
    else
        real.MPI_Comm_group(known->comm, &group);
    real.MPI_Comm_group(abi_handles.comm_world, &world);
    world_ranks_ask(group, world, ranks, known->size);
    real.MPI_Group_free(&group);
    real.MPI_Group_free(&world);
    return ranks;
}

/* False: nobody has asked yet. */
static bool world_rank_look(int rank, const struct communicator *known, int *found)
{
    base_lock_take(&communicators.lock);
    const struct communicator *entry = communicator_entry(known->comm);
    bool is_known = communicator_is(entry, known->comm, known->generation) && entry->world_ranks != NULL;
    if (is_known)
        *found = entry->world_ranks[rank];
    base_lock_release(&communicators.lock);
    return is_known;
}

/* Another thread may have been first, or have put another communicator there. */
static void world_ranks_put(const struct communicator *known, int *ranks)
{
    base_lock_take(&communicators.lock);
    struct communicator *entry = communicator_entry(known->comm);
    bool is_wanted = communicator_is(entry, known->comm, known->generation) && entry->world_ranks == NULL;
    if (is_wanted)
        entry->world_ranks = ranks;
    base_lock_release(&communicators.lock);
    if (!is_wanted)
        free(ranks);
}

static int world_rank_ask(int rank, const struct communicator *known)
{
    int *ranks = world_ranks_make(known);
    if (ranks == NULL)
        return -1;
    int found = ranks[rank];
    world_ranks_put(known, ranks);
    return found;
}

/* Negative when it is none: a wildcard, MPI_PROC_NULL, or a process of another world. */
static int world_rank(int rank, MPI_Comm comm)
{
    int found;
    if (rank < 0 || comm == abi_handles.comm_world)
        return rank;
    struct communicator known = communicator_of(comm);
    if (rank >= known.size)
        return -1;
    return world_rank_look(rank, &known, &found) ? found : world_rank_ask(rank, &known);
}

int measure_size(MPI_Comm comm)
{
    return communicator_of(comm).size;
}

bool measure_is_root(int root, MPI_Comm comm)
{
    return communicator_of(comm).rank == root;
}

bool measure_is_between_groups(MPI_Comm comm)
{
    return communicator_of(comm).is_between_groups;
}

void measure_reduction(struct profile_call *call, MPI_Op op, MPI_Datatype datatype, MPI_Comm comm)
{
    bool is_free = reductions_are_known(op) && reductions_keep_bits(op, datatype, measure_size(comm));
    if (call->site != NULL)
        profile_file_cell_add(call->site, PROFILE_REDUCED, is_free, 2, 0, 0);
}

/* --- messages --- */

void measure_volume(struct profile_call *call, int64_t bytes)
{
    if (bytes > call->bytes)
        call->bytes = bytes;
}

void measure_message(struct profile_call *call, MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm)
{
    if (peer == MPI_PROC_NULL)
        return;
    measure_volume(call, measure_bytes(count, datatype));
    call->peer = world_rank(peer, comm);
}

MPI_Status *measure_status(MPI_Status *status, MPI_Status *own)
{
    return status_is_ignored(status) ? own : status;
}

void measure_matched_receipt(struct profile_call *call, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    if (status->MPI_SOURCE != MPI_PROC_NULL &&
        real.MPI_Get_elements_x(status, abi_handles.byte, &bytes) == MPI_SUCCESS && bytes >= 0)
        measure_volume(call, bytes);
}

void measure_receipt(struct profile_call *call, const MPI_Status *status, MPI_Comm comm)
{
    measure_matched_receipt(call, status);
    if (call->peer < 0)
        call->peer = world_rank(status->MPI_SOURCE, comm);
}

/* --- requests --- */

void measure_keys_take(struct measure_keys *keys, int count, const MPI_Request requests[])
{
    keys->count = count > 0 ? count : 0;
    keys->keys = keys->inline_keys;
    if (count > MEASURE_KEYS_INLINE)
        keys->keys = malloc((size_t)count * sizeof *keys->keys);
    if (keys->keys == NULL)
        keys->count = 0;
    for (int i = 0; i < keys->count; i++)
        keys->keys[i] = measure_key(requests[i]);
}

void measure_keys_free(struct measure_keys *keys)
{
    if (keys->keys != keys->inline_keys)
        free(keys->keys);
}

void measure_ended(struct profile_completion *completion, const struct measure_keys *keys, int index)
{
    if (index >= 0 && index < keys->count)
        profile_request_end(keys->keys[index], completion);
}

void measure_ended_some(struct profile_completion *completion, const struct measure_keys *keys, int count,
                        const int indices[])
{
    for (int i = 0; i < count; i++) /* MPI_UNDEFINED is negative */
        measure_ended(completion, keys, indices[i]);
}

void measure_ended_all(struct profile_completion *completion, const struct measure_keys *keys)
{
    for (int i = 0; i < keys->count; i++)
        profile_request_end(keys->keys[i], completion);
}

void measure_completion(struct profile_call *call, const struct profile_completion *completion)
{
    if (completion->count > 0)
        call->bytes = (int64_t)completion->bytes;
}

void measure_restarted(struct profile_call *call, int count, const MPI_Request requests[])
{
    int64_t sum_bytes = 0;
    for (int i = 0; i < count; i++)
        sum_bytes += (int64_t)profile_request_restart(measure_key(requests[i]));
    call->bytes = sum_bytes;
}

/* --- slack of blocking calls --- */

static void buffers_add(struct observe_buffers *buffers, struct observe_buffer added, int64_t length_bytes)
{
    added.length_bytes = (uint64_t)length_bytes;
    if (length_bytes >= OBSERVE_BYTES_MIN && buffers->count != WATCH_PARTS_MAX)
        buffers->buffers[buffers->count++] = added;
}

void measure_buffer(struct observe_buffers *buffers, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                    bool is_received)
{
    if (buffer == MPI_IN_PLACE || count <= 0)
        return;
    const struct type_layout *layout = datatype_layout(datatype);
    struct observe_buffer added = {.is_received = is_received,
                                   .may_hide_gaps = !is_received && datatype_may_hide_gaps(layout)};
    if (!layout->is_known)
        return;
    added.bytes = datatype_span(layout, buffer, count);
    added.has_gaps = datatype_has_gaps(layout, count);
    buffers_add(buffers, added, count * layout->size_bytes);
}

void measure_list(struct observe_buffers *buffers, const void *buffer, const struct block_lists_side *side,
                  bool is_received)
{
    if (buffer == MPI_IN_PLACE)
        return;
    struct block_lists_span span = block_lists_span(buffer, side);
    struct observe_buffer added = {.bytes = span.range,
                                   .is_received = is_received,
                                   .has_gaps = block_lists_have_gaps(&span),
                                   .may_hide_gaps = !is_received};
    if (span.is_known)
        buffers_add(buffers, added, (int64_t)span.bytes);
}

MPI_Count measure_count_own(struct argument_buffer_list counts, MPI_Comm comm)
{
    return argument_buffers_at(counts, communicator_of(comm).rank);
}

MPI_Count measure_count_all(struct argument_buffer_list counts, MPI_Comm comm)
{
    MPI_Count sum = 0;
    int blocks = measure_size(comm);
    for (int i = 0; i < blocks; i++)
        sum += argument_buffers_at(counts, i);
    return sum;
}
