/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_begin.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/options.h"
#include "engine/gate.h"
#include "mpi/agreement.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/collective/collective_blocking.h"
#include "mpi/collective/collective_groups.h"
#include "mpi/collective/collective_list.h"
#include "mpi/collective/collective_op.h"
#include "mpi/collective/collective_parts.h"
#include "mpi/datatypes.h"
#include "mpi/dispatch.h"
#include "mpi/gaps.h"
#include "mpi/reductions.h"
#include "op/begin.h"
#include "op/observer.h"
#include "op/session.h"
#include "op/stall.h"
#include "op/transfer.h"

/* --- what is the same on all ranks --- */

/* False: nothing to move, or MPI says itself what is wrong. */
static bool block_measure(struct collective_call *call)
{
    MPI_Count count = call->given.block_count;
    if (count <= 0 || count > INT32_MAX || call->given.block_type == abi_handles.datatype_null)
        return false;
    const struct type_layout *layout = datatype_layout(call->given.block_type);
    call->block_bytes = datatype_bytes(layout, count);
    return layout->is_known && call->block_bytes <= INT32_MAX;
}

/* Of what goes as it was given, block_bytes is all that is moved, or 0 where no rank knows that. */
static uint64_t call_bytes(const struct collective_call *call, int size)
{
    bool has_blocks = collective_work_has_blocks(call->function) && !call->is_given;
    return call->block_bytes * (has_blocks ? (uint64_t)size : 1);
}

static bool reduction_is_exact(const struct collective_call *call, const struct collective_comm *comm)
{
    return options.reductions == OPTION_REDUCTIONS_ANY ||
           reductions_keep_bits(call->given.op, call->given.block_type, comm->size);
}

/* A function of the program's own would run in the engine's thread. */
static bool reduction_is_allowed(const struct collective_call *call)
{
    return !collective_work_reduces(call->function) || reductions_are_known(call->given.op);
}

/* In place on all ranks alike (MPI 4.1, 6.8). MPICH's MPI_Ialltoallw takes each block to have the size of a rank's type
 * for itself, and no rank knows the types of another. */
static bool exchange_would_be_wrong(const struct collective_call *call, const struct collective_comm *comm)
{
    bool is_in_place = call->given.send == MPI_IN_PLACE;
    bool has_many = comm->size > ABI_EXCHANGE_IN_PLACE_RANKS_MAX;
    return is_in_place &&
           (call->function == COLLECTIVE_ALLTOALLW || (call->function == COLLECTIVE_ALLTOALLV && has_many));
}

/* All ranks know all counts, and differ by their units alone. */
static bool gather_would_take_long(const struct collective_call *call, const struct collective_comm *comm)
{
    enum { STEPS_MOST = 16 };
    return call->function == COLLECTIVE_ALLGATHERV && !call->is_between && comm->steps_by_shortest &&
           !collective_list_is_even(&call->given.receive_list, comm->size, STEPS_MOST);
}

/* Of calls between two groups more is known already. */
static bool call_is_eligible(const struct collective_call *call, const struct collective_comm *comm)
{
    bool is_known = !collective_work_differs(call->function) && !call->is_between;
    if (comm == NULL || (is_known && call_bytes(call, comm->size) < options.threshold_bytes))
        return false;
    if (exchange_would_be_wrong(call, comm) || gather_would_take_long(call, comm))
        return false;
    if (collective_work_is_rooted(call->function) && !call->is_between &&
        (call->given.root < 0 || call->given.root >= comm->size))
        return false; /* MPI says itself that there is no such root */
    return !collective_work_reduces(call->function) || reduction_is_exact(call, comm);
}

static uint32_t call_key(const struct collective_call *call, const struct collective_comm *comm)
{
    enum { BITS_OF_ALL = 64, CLASS_BITS = 8 };
    uint64_t bytes = call_bytes(call, comm->size);
    uint32_t size_class = bytes == 0 ? 0 : (uint32_t)(BITS_OF_ALL - __builtin_clzll(bytes));
    return ((uint32_t)call->function + 1) << CLASS_BITS | size_class;
}

/* What the ranks have measured in the round that is over. On the communicator beside, where all pieces have been
 * started by now, or where there is none yet, on the program's. */
static void choice_agree(const struct collective_call *call, const struct collective_comm *comm)
{
    int64_t own[COLLECTIVE_CHOICE_SUMS];
    int64_t all[COLLECTIVE_CHOICE_SUMS] = {0};
    MPI_Comm asked = comm->has_beside ? comm->beside : call->given.comm;
    collective_choice_take(call->choice, own);
    collective_comm_sum(comm, asked, own, all, COLLECTIVE_CHOICE_SUMS);
    collective_choice_agree(call->choice, all);
}

/* What comes next keeps the gate until all ranks have come. */
static void call_enter_alone(void)
{
    gate_leave();
    dispatch_wait_others();
    dispatch_enter();
}

/* Inside the gate. NULL: its collectives are passed. */
static struct collective_comm *comm_find_or_meet(MPI_Comm comm)
{
    struct collective_comm *known;
    return collective_comm_find(comm, &known) ? known : collective_comm_meet(comm);
}

/* The first call that is not a blocking one makes the communicator beside. NULL: MPI has none to give. */
static struct collective_comm *comm_complete(const struct collective_call *call, struct collective_comm *known)
{
    if (known->has_beside || call->kind == COLLECTIVE_CHOICE_BLOCKING)
        return known;
    call_enter_alone();
    return collective_comm_make_beside(call->given.comm, known);
}

static void call_choose(struct collective_call *call, const struct collective_comm *comm)
{
    int64_t now_ns = base_clock_now_ns();
    int64_t ran_ns = stall_ran_ns();
    if (collective_choice_is_due(call->choice)) {
        call_enter_alone();
        choice_agree(call, comm);
    }
    call->kind = collective_choice_next(call->choice, now_ns, ran_ns);
}

/* Over shared memory short calls take less than holds do. Elsewhere each communicator would lose its first calls. */
static bool call_listens_first(const struct collective_call *call, const struct collective_comm *comm)
{
    enum { LISTEN_BYTES = 1 << 20 };
    uint64_t bytes = call_bytes(call, comm->size);
    return bytes != 0 && bytes < LISTEN_BYTES && agreement_is_on_one_host();
}

/* As the ranks have agreed upon. False: the communicator has no room for what is learnt, and the call is passed. */
static bool call_choose_kind(struct collective_call *call, struct collective_comm *comm)
{
    call->kind = COLLECTIVE_CHOICE_PIECES;
    if (!options.learn)
        return true;
    call->choice = collective_comm_choice(comm, call_key(call, comm));
    if (call->choice == NULL)
        return false;
    if (call->choice->round == COLLECTIVE_CHOICE_NONE)
        call->choice->listens_first = call_listens_first(call, comm);
    call_choose(call, comm);
    return true;
}

/* --- a call --- */

static struct message side_of(enum policy_direction direction, const void *buffer, MPI_Count count,
                              MPI_Datatype datatype, MPI_Comm comm)
{
    struct message side = message_of((void *)buffer, count, datatype, 0, 0, comm);
    side.direction = direction;
    if (count != 0)
        message_measure(&side);
    return side;
}

static bool side_is_plain(const struct message *side)
{
    return !side->has_gaps && (side->count == 0 || (side->is_measured && gaps_are_none(side->datatype)));
}

static void call_look_for_gaps(struct collective_call *call)
{
    gate_enter();
    call->is_plain_send = side_is_plain(&call->send);
    call->is_plain_receive = side_is_plain(&call->receive);
    gate_leave();
}

/* How far apart blocks lie where they begin. */
static uint64_t side_stride(const struct message *side, int blocks)
{
    return blocks == 0 ? 0 : side->bytes / (uint64_t)blocks;
}

static void call_place(struct collective_call *call, int send_blocks, int receive_blocks)
{
    const struct collective_call_arguments *given = &call->given;
    call->send_blocks = given->send == MPI_IN_PLACE ? 0 : send_blocks;
    call->receive_blocks = given->receive == MPI_IN_PLACE ? 0 : receive_blocks;
    call->send =
        side_of(POLICY_SEND, given->send, given->send_count * call->send_blocks, given->send_type, call->given.comm);
    call->receive = side_of(POLICY_RECEIVE, given->receive, given->receive_count * call->receive_blocks,
                            given->receive_type, call->given.comm);
    call->send_stride_bytes = side_stride(&call->send, call->send_blocks);
    call->receive_stride_bytes = side_stride(&call->receive, call->receive_blocks);
    call_look_for_gaps(call);
}

static struct message listed_side_of(enum policy_direction direction, const void *buffer,
                                     const struct block_lists_side *side, MPI_Comm comm)
{
    if (side->list.counts.first == NULL)
        return side_of(direction, buffer, side->count * side->blocks, side->type, comm);
    collective_list_wait(&side->list, side->blocks);
    struct block_lists_span span = block_lists_span(buffer, side);
    struct message message = message_of((void *)buffer, 0, abi_handles.byte, 0, 0, comm);
    message.direction = direction;
    message.bytes = span.bytes;
    message.range = span.range;
    message.is_measured = span.is_known;
    message.has_gaps = block_lists_have_gaps(&span);
    message.is_list = true;
    return message;
}

/* Open MPI takes one address for both for MPI_IN_PLACE in MPI_Ialltoallv and its kin (nbc_internal.h, NBC_IN_PLACE),
 * not in its blocking functions, and its messages then are others than the peers'. A program may give one where it
 * sends or receives nothing, or where its blocks lie apart. What is empty is not looked at, and gets an address of its
 * own: for two null pointers none that means something to MPI. */
static void call_tell_sides_apart(struct collective_call *call)
{
    enum { APART_BYTES = 64 };
    struct collective_call_arguments *given = &call->given;
    if (given->send != given->receive)
        return;
    if (call->send.bytes == 0)
        given->send = (const void *)((uintptr_t)given->send + APART_BYTES);
    else if (call->receive.bytes == 0)
        given->receive = (void *)((uintptr_t)given->receive + APART_BYTES);
}

/* Blocks that lie apart keep their places, and are named from another address. What it returns is to be freed after
 * the call. */
static void *call_tell_blocks_apart(struct collective_call *call)
{
    int64_t further_bytes;
    bool is_scatter = call->function == COLLECTIVE_SCATTERV;
    struct block_lists_side *side = is_scatter ? &call->sent : &call->received;
    struct message *message = is_scatter ? &call->send : &call->receive;
    if (call->given.send != call->given.receive || side->list.displacements.first == NULL)
        return NULL;
    void *displacements = collective_list_move(side, &further_bytes);
    message->buffer = (void *)((uintptr_t)message->buffer + (uintptr_t)further_bytes);
    if (is_scatter)
        call->given.send = message->buffer;
    else
        call->given.receive = message->buffer;
    return displacements;
}

/* What a rank has one block of, for all others or from the root, goes without a list. */
static int list_blocks(const struct block_list *list, const struct collective_comm *comm)
{
    return list->counts.first != NULL ? comm->size : 1;
}

/* Nothing of what means nothing on this rank is looked at. */
static void call_tell_sides(struct collective_call *call, const struct collective_comm *comm)
{
    const struct collective_call_arguments *given = &call->given;
    bool is_root = comm->rank == given->root;
    if (given->send != MPI_IN_PLACE && (call->function != COLLECTIVE_SCATTERV || is_root))
        call->sent = collective_call_sent(call, list_blocks(&given->send_list, comm));
    if (given->receive != MPI_IN_PLACE && (call->function != COLLECTIVE_GATHERV || is_root))
        call->received = collective_call_received(call, list_blocks(&given->receive_list, comm));
}

static void call_tell_sides_of_neighbors(struct collective_call *call, const struct collective_topology *topology)
{
    bool is_gather =
        call->function == COLLECTIVE_NEIGHBOR_ALLGATHER || call->function == COLLECTIVE_NEIGHBOR_ALLGATHERV;
    call->sent = collective_call_sent(call, is_gather ? 1 : topology->targets);
    call->received = collective_call_received(call, topology->sources);
    call->sent.absent = call->received.absent = topology->absent;
}

/* What a rank sends and receives. A list counts as one block. */
static void call_place_lists(struct collective_call *call, const struct collective_comm *comm)
{
    const struct collective_call_arguments *given = &call->given;
    if (call->is_between)
        collective_groups_tell_sides(call, comm);
    else if (collective_work_is_neighborhood(call->function))
        call_tell_sides_of_neighbors(call, &comm->topology);
    else
        call_tell_sides(call, comm);
    call->send = listed_side_of(POLICY_SEND, given->send, &call->sent, given->comm);
    call->receive = listed_side_of(POLICY_RECEIVE, given->receive, &call->received, given->comm);
    call->send_blocks = call->send.bytes != 0;
    call->receive_blocks = call->receive.bytes != 0;
    call_look_for_gaps(call);
    if (call->function == COLLECTIVE_BCAST)
        collective_groups_fill(call);
    else
        call_tell_sides_apart(call);
}

/* MPI_Reduce_scatter: all blocks are read, and this rank's is written; in place all of them may be. */
static void call_place_shares(struct collective_call *call, const struct collective_comm *comm)
{
    const struct collective_call_arguments *given = &call->given;
    bool is_in_place = given->send == MPI_IN_PLACE;
    MPI_Count all = given->block_count;
    MPI_Count own = is_in_place ? all : argument_buffers_at(given->receive_list.counts, comm->rank);
    call->received =
        (struct block_lists_side){.type = given->receive_type, .list = given->receive_list, .blocks = comm->size};
    call->send = side_of(POLICY_SEND, given->send, is_in_place ? 0 : all, given->send_type, given->comm);
    call->receive = side_of(POLICY_RECEIVE, given->receive, own, given->receive_type, given->comm);
    call->send_blocks = call->send.bytes != 0;
    call->receive_blocks = call->receive.bytes != 0;
    call->is_plain_send = true; /* predefined reductions work on predefined types */
    call->is_plain_receive = true;
}

/* How many blocks each rank sends and receives. */
static void call_place_blocks(struct collective_call *call, const struct collective_comm *comm)
{
    bool is_root = comm->rank == call->given.root;
    int size = comm->size;
    if (call->function == COLLECTIVE_REDUCE_SCATTER)
        return call_place_shares(call, comm);
    if (call->is_given)
        return call_place_lists(call, comm);
    switch (call->function) {
    case COLLECTIVE_BCAST:
        return call_place(call, is_root, !is_root);
    case COLLECTIVE_GATHER:
        return call_place(call, 1, is_root ? size : 0);
    case COLLECTIVE_SCATTER:
        return call_place(call, is_root ? size : 0, 1);
    case COLLECTIVE_ALLGATHER:
        return call_place(call, 1, size);
    case COLLECTIVE_ALLTOALL:
        return call_place(call, size, size);
    case COLLECTIVE_REDUCE:
        return call_place(call, 1, is_root);
    case COLLECTIVE_EXSCAN: /* the first rank receives nothing (MPI 4.1, 6.11.2), but gives its part in place */
        return call_place(call, 1, comm->rank != 0 || call->given.send == MPI_IN_PLACE);
    case COLLECTIVE_REDUCE_SCATTER_BLOCK:
        return call_place(call, size, call->given.send == MPI_IN_PLACE ? size : 1);
    default:
        return call_place(call, 1, 1);
    }
}

/* Waits in it, to see what that takes. What is left of earlier calls is theirs to answer for. */
static int call_wait(struct collective_call *call)
{
    int result;
    collective_call_note_pass(call, REASON_LEARNED, collective_call_bytes(call));
    if (!busy_is_clear() && !call->choice->follows_blocking)
        transfer_wait_due();
    if (busy_is_clear()) {
        result = collective_blocking(call);
    } else {
        collective_op_wait_memory(call);
        dispatch_wait_others();
        dispatch_enter();
        result = dispatch_leave_and_tell(collective_blocking(call));
    }
    collective_choice_learn(call->choice, COLLECTIVE_CHOICE_BLOCKING, stall_ran_ns() - call->begun_ran_ns);
    return result;
}

static bool side_is_wrong(const struct message *side, int blocks)
{
    return blocks != 0 && !side->is_measured;
}

/* Wrong on this rank alone: MPI says so itself, and ends the job or tells the program. */
static bool call_is_wrong(const struct collective_call *call)
{
    if (collective_work_is_neighborhood(call->function) && call->given.send == MPI_IN_PLACE)
        return true; /* means nothing there (MPI 4.1, 8.6) */
    if (call->is_between && call->send_blocks != 0 && call->given.send == MPI_IN_PLACE)
        return true; /* nor there (MPI 4.1, 6.2.3) */
    return side_is_wrong(&call->send, call->send_blocks) || side_is_wrong(&call->receive, call->receive_blocks);
}

/* Fewer bytes than the other ranks count on would go, or fit. */
static bool call_is_short(const struct collective_call *call)
{
    if (call->is_given)
        return false; /* MPI compares what is sent and received, pair by pair */
    return (call->send_blocks != 0 && call->send_stride_bytes < call->block_bytes) ||
           (call->receive_blocks != 0 && call->receive_stride_bytes < call->block_bytes);
}

/* The way of small ones ends here: their entries go on to MPI. */
static bool call_is_large(struct collective_call *call)
{
    return block_measure(call) && call_bytes(call, session.size) >= options.threshold_bytes &&
           reduction_is_allowed(call);
}

/* MPI_Allgatherv and MPI_Reduce_scatter name all counts on all ranks: their sum is what every rank gives alike. */
static void call_sum_counts(struct collective_call *call)
{
    gate_enter();
    int blocks = collective_comm_size(call->given.comm);
    gate_leave();
    collective_list_wait(&call->given.receive_list, blocks);
    call->given.block_count = collective_list_count(&call->given.receive_list, blocks);
    call->given.block_type = call->given.receive_type;
}

/* What a rank packs, whose type has gaps: as much memory again as it sends or receives. */
enum { STAGED_BYTES_MOST = 256 << 20 };

/* All ranks know alike how much they move, and none knows of another's gaps. */
static bool staging_may_be_large(const struct collective_call *call, const struct collective_comm *comm)
{
    bool may_be_staged = !collective_work_reduces(call->function) && !call->is_given;
    return may_be_staged && call_bytes(call, comm->size) > STAGED_BYTES_MOST;
}

/* In the first large call, on the program's communicator, as sizes_agree(). */
static enum collective_comm_gaps gaps_agree(struct collective_call *call, const struct collective_comm *comm)
{
    int64_t all = 0;
    call_place_blocks(call, comm);
    int64_t own = !call->is_plain_send || !call->is_plain_receive;
    call_enter_alone();
    collective_comm_sum(comm, call->given.comm, &own, &all, 1);
    return all == 0 ? COLLECTIVE_COMM_GAPS_NONE : COLLECTIVE_COMM_GAPS_SOME;
}

/* A rank whose later calls have gaps for the first time packs them all the same. */
static bool staging_would_be_large(struct collective_call *call, struct collective_comm *comm)
{
    if (!staging_may_be_large(call, comm))
        return false;
    enum collective_comm_gaps *gaps = &comm->gaps[call->function];
    if (*gaps == COLLECTIVE_COMM_GAPS_UNKNOWN)
        *gaps = gaps_agree(call, comm);
    return *gaps == COLLECTIVE_COMM_GAPS_SOME;
}

/* NULL: the call is passed. */
static struct collective_comm *call_find_comm(struct collective_call *call)
{
    dispatch_enter();
    struct collective_comm *comm = comm_find_or_meet(call->given.comm);
    bool is_begun_here =
        call_is_eligible(call, comm) && !staging_would_be_large(call, comm) && call_choose_kind(call, comm);
    comm = is_begun_here ? comm_complete(call, comm) : NULL;
    gate_leave();
    return comm;
}

/* Whether a rank can work where its blocks lie is its own affair. */
static void call_place_parts(struct collective_call *call)
{
    gate_enter();
    call->is_in_a_row = !gaps_are_none(call->received.type) || !collective_parts_reach(&call->received);
    gate_leave();
    call->is_plain_receive = call->is_plain_receive && !call->is_in_a_row;
    call->send_stride_bytes = call->send.bytes;
}

/* All ranks know all counts of MPI_Allgatherv, in bytes: they cut alike. Not where MPI moves a piece in steps of its
 * shortest part, which may be a byte: what is left of one block for the last piece, or of a short one for any. */
static void call_cut_blocks(struct collective_call *call, const struct collective_comm *comm)
{
    if (call->function != COLLECTIVE_ALLGATHERV || call->is_between || call->kind != COLLECTIVE_CHOICE_PIECES ||
        comm->steps_by_shortest || call->block_bytes > STAGED_BYTES_MOST)
        return;
    uint64_t longest_bytes = collective_parts_longest(&call->received);
    if (collective_cut_make(call->block_bytes, longest_bytes, false).pieces == 1)
        return;
    call->is_given = false;
    call->longest_bytes = longest_bytes;
    call_place_parts(call);
}

static int call_carry_out(struct collective_call *call, struct collective_comm *comm)
{
    call_cut_blocks(call, comm);
    return call->kind == COLLECTIVE_CHOICE_BLOCKING ? call_wait(call) : collective_op_run(call, comm);
}

static int call_run(struct collective_call *call, struct collective_comm *comm)
{
    call_place_blocks(call, comm);
    if (call_is_wrong(call))
        return collective_blocking(call);
    if (call_is_short(call))
        collective_alone_end("a collective's arguments for sending and receiving name different lengths");
    void *displacements = call_tell_blocks_apart(call);
    int result = call_carry_out(call, comm);
    if (call->choice != NULL)
        collective_choice_note_return(call->choice, stall_ran_ns());
    free(displacements);
    return result;
}

/* --- where counts differ --- */

/* On the program's communicator, on which its ranks call the same collectives in the same order. Where one rank must
 * have its calls passed, nothing counts as moved. */
static void sizes_agree(const struct collective_call *call, const struct collective_comm *known,
                        struct collective_sizes *sizes)
{
    enum { BYTES, REFUSALS, SUMS };
    bool is_refused = collective_work_is_neighborhood(call->function) && known->topology.has_double_edges;
    int64_t own[SUMS] = {[BYTES] = (int64_t)sizes->bytes, [REFUSALS] = is_refused};
    int64_t all[SUMS] = {0};
    dispatch_enter();
    call_enter_alone();
    collective_comm_sum(known, call->given.comm, own, all, SUMS);
    gate_leave();
    uint64_t all_bytes = all[REFUSALS] == 0 ? (uint64_t)all[BYTES] : 0;
    collective_sizes_agree(sizes, all_bytes, known->size + known->remote_size, options.threshold_bytes);
}

/* Alike on all ranks, as topologies are. Open MPI 4.1's MPI_Ialltoallw takes the lists of types to be as long as there
 * are neighbors wherever the communicator has a topology (ompi_coll_base_retain_datatypes_w()). */
static bool topology_forbids(enum collective_work_function function, const struct collective_topology *topology)
{
    return collective_work_is_neighborhood(function) ? !topology->is_known
                                                     : function == COLLECTIVE_ALLTOALLW && topology->is_known;
}

static struct collective_comm *call_meet_comm(const struct collective_call *call)
{
    dispatch_enter();
    struct collective_comm *known = comm_find_or_meet(call->given.comm);
    gate_leave();
    return known;
}

/* Are the calls of this function on this communicator known to be large? Calls are counted here, on all ranks alike,
 * but for those that collective_comm_passes() has. */
static bool call_is_known_large(struct collective_call *call)
{
    struct collective_comm *known = call_meet_comm(call);
    if (known == NULL || topology_forbids(call->function, &known->topology))
        return false;
    struct collective_sizes *sizes = &known->sizes[call->function];
    if (sizes->are_large)
        return true;
    if (collective_sizes_pass(sizes))
        return false;
    call_place_blocks(call, known);
    if (collective_sizes_note(sizes, collective_call_bytes(call)))
        sizes_agree(call, known, sizes);
    return false;
}

/* Where every rank knows how much all of them move. */
static bool call_is_large_between(struct collective_call *call)
{
    const struct collective_comm *known = call_meet_comm(call);
    if (known == NULL)
        return false;
    call->given.block_type = call->given.receive_type;
    call->block_bytes = collective_groups_bytes(call, known);
    return call->block_bytes >= options.threshold_bytes;
}

static bool call_is_possible_between(struct collective_call *call)
{
    bool is_counted = collective_groups_differ(call->function);
    bool has_been_asked = collective_work_differs(call->function); /* by collective_begin_is_possible() */
    call->is_between = true;
    call->is_given = true;
    if (!collective_groups_carry(call->function))
        return false;
    if (is_counted && !has_been_asked && collective_comm_passes(call->function, call->given.comm))
        return false;
    return is_counted ? call_is_known_large(call) : call_is_large_between(call);
}

static bool call_is_possible(struct collective_call *call)
{
    if (call->given.comm == abi_handles.comm_null)
        return false;
    if (collective_comm_is_between(call->given.comm))
        return call_is_possible_between(call);
    if (collective_work_differs(call->function))
        return call_is_known_large(call);
    if (collective_work_is_listed(call->function))
        call_sum_counts(call);
    return call_is_large(call);
}

/* Where lists tell how much it is, nobody adds it up. */
static void call_note_pass(struct collective_call *call)
{
    if (call->is_given || call->given.comm == abi_handles.comm_null || !call_is_large(call))
        return;
    gate_enter();
    int ranks = collective_comm_size(call->given.comm); /* 0 between two groups */
    gate_leave();
    if (ranks > 1 && call_bytes(call, ranks) >= options.threshold_bytes)
        collective_call_note_pass(call, REASON_RANKS, call_bytes(call, ranks));
}

/* Most lists name few bytes. Where nothing is pending that is seen without the gate. */
static bool list_is_small(enum collective_work_function function, const struct collective_call_arguments *given)
{
    if (collective_work_differs(function) || !collective_work_is_listed(function) || !busy_is_clear() ||
        collective_comm_common.has_groups || given->comm == abi_handles.comm_null)
        return false;
    uint64_t bytes;
    MPI_Count count = collective_list_count(&given->receive_list, collective_comm_size(given->comm));
    return message_is_known_small(count, given->receive_type, &bytes);
}

static bool call_begin(enum collective_work_function function, const struct collective_call_arguments *given,
                       int *result)
{
    struct collective_call call = {
        .function = function, .given = *given, .is_given = collective_work_is_listed(function)};
    if (collective_comm_common.are_passed)
        call_note_pass(&call);
    if (collective_comm_common.are_passed || !call_is_possible(&call))
        return false;
    if (collective_work_reduces(function))
        begin_reduction(); /* before anything is asked of MPI */
    struct collective_comm *comm = call_find_comm(&call);
    if (comm == NULL)
        return false;
    call.begun_ns = base_clock_now_ns(); /* what agreeing has taken is none of a kind's */
    call.begun_ran_ns = stall_ran_ns();
    *result = call_run(&call, comm);
    return true;
}

bool collective_begin_run(enum collective_work_function function, const struct collective_call_arguments *given,
                          int *result)
{
    return !list_is_small(function, given) && call_begin(function, given, result);
}

/* --- in MPI_Init --- */

void collective_begin_start(void)
{
    bool is_wanted = options.collectives && !observer.is_wanted();
    if (is_wanted && session.size > 1 && agreement_is_sought())
        collective_comm_start(!agreement_is_whole());
}
