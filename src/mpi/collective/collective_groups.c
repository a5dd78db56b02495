/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_groups.h"

#include "mpi/datatypes.h"

/* --- which, and how much --- */

/* No rank knows the operation of the other group: that may be the program's own, or work on types of its own. MPI_Scan
 * and MPI_Exscan, and neighborhoods, have no second group (MPI 4.1, 6.11, 8.6). */
bool collective_groups_carry(enum collective_work_function function)
{
    if (function == COLLECTIVE_BCAST)
        return ABI_BCASTS_BETWEEN_GROUPS;
    return !collective_work_reduces(function) && !collective_work_is_neighborhood(function);
}

bool collective_groups_differ(enum collective_work_function function)
{
    return function <= COLLECTIVE_SCATTER;
}

static uint64_t times(uint64_t bytes, int64_t count)
{
    uint64_t product;
    bool is_huge = __builtin_mul_overflow(bytes, count < 0 ? 0 : (uint64_t)count, &product);
    return is_huge ? UINT64_MAX : product;
}

static uint64_t more_of(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

uint64_t collective_groups_bytes(const struct collective_call *call, const struct collective_comm *known)
{
    const struct collective_call_arguments *given = &call->given;
    uint64_t sent_block = datatype_bytes(datatype_layout(given->send_type), given->send_count);
    uint64_t received_block = datatype_bytes(datatype_layout(given->receive_type), given->receive_count);
    int ranks_most = known->size > known->remote_size ? known->size : known->remote_size;
    if (call->function == COLLECTIVE_ALLGATHER)
        return more_of(times(sent_block, known->size), times(received_block, known->remote_size));
    return times(more_of(sent_block, received_block), ranks_most);
}

/* --- what one rank has --- */

static bool root_receives(enum collective_work_function function)
{
    return function == COLLECTIVE_GATHER || function == COLLECTIVE_GATHERV;
}

/* A rank of the other group's root sends to it, or receives from it. */
static bool rank_sends(const struct collective_call *call)
{
    bool is_leaf = call->given.root >= 0;
    bool is_root = call->given.root == MPI_ROOT;
    return !collective_work_is_rooted(call->function) || (root_receives(call->function) ? is_leaf : is_root);
}

static bool rank_receives(const struct collective_call *call)
{
    bool is_leaf = call->given.root >= 0;
    bool is_root = call->given.root == MPI_ROOT;
    return !collective_work_is_rooted(call->function) || (root_receives(call->function) ? is_root : is_leaf);
}

static int blocks_sent(const struct collective_call *call, const struct collective_comm *known)
{
    bool is_scatter = call->function == COLLECTIVE_SCATTER || call->function == COLLECTIVE_ALLTOALL;
    return is_scatter || call->given.send_list.counts.first != NULL ? known->remote_size : 1;
}

static int blocks_received(const struct collective_call *call, const struct collective_comm *known)
{
    bool is_gather = call->function == COLLECTIVE_GATHER || call->function == COLLECTIVE_ALLGATHER ||
                     call->function == COLLECTIVE_ALLTOALL;
    return is_gather || call->given.receive_list.counts.first != NULL ? known->remote_size : 1;
}

/* A side without blocks is one that MPI must not look at; what it is shown then says that there is nothing. */
void collective_groups_tell_sides(struct collective_call *call, const struct collective_comm *known)
{
    call->sent = (struct block_lists_side){.type = abi_handles.byte};
    call->received = (struct block_lists_side){.type = abi_handles.byte};
    if (rank_sends(call))
        call->sent = collective_call_sent(call, blocks_sent(call, known));
    if (rank_receives(call))
        call->received = collective_call_received(call, blocks_received(call, known));
}

static bool side_is_empty(const struct block_lists_side *side)
{
    if (side->blocks == 0 || side->count == 0)
        return true;
    const struct type_layout *layout = datatype_layout(side->type);
    return side->count > 0 && layout->is_known && layout->size_bytes == 0;
}

void collective_groups_fill(struct collective_call *call)
{
    if (side_is_empty(&call->sent) && side_is_empty(&call->received)) {
        call->given.send = call->given.receive = &collective_comm_common.nothing;
        call->sent = call->received = (struct block_lists_side){.count = 1, .type = abi_handles.byte};
    } else if (call->received.blocks == 0) {
        call->received.count = call->sent.count;
        call->received.type = call->sent.type;
    }
}
