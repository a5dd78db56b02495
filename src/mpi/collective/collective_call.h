/* SPDX-License-Identifier: MIT */
/* A call of a blocking collective, as one rank sees it. */
#ifndef MPI_COLLECTIVE_CALL_H
#define MPI_COLLECTIVE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "mpi/collective/collective_choice.h"
#include "mpi/collective/collective_work.h"
#include "mpi/message/message.h"
#include "op/call_site.h"
#include "op/observer.h"
#include "record/record.h"

/* What the program gave; of a broadcast both buffers are the same. What means nothing on this rank is not looked at.
 * block: what every rank gives alike, of what one rank has for one other, or for all. */
struct collective_call_arguments {
    const void *send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive;
    MPI_Count receive_count;
    MPI_Datatype receive_type;
    MPI_Count block_count; /* of functions without lists */
    MPI_Datatype block_type;
    bool has_large_counts; /* as in struct collective_work */
    struct block_list send_list;
    struct block_list receive_list;
    MPI_Op op; /* of reductions */
    int root;  /* of those that have one */
    MPI_Comm comm;
    const void *caller; /* the entry's return address */
};

/* A call as this rank sees it. What this rank does not send or receive has no blocks. */
struct collective_call {
    enum collective_work_function function;
    struct collective_call_arguments given;
    bool is_between; /* two groups */
    bool is_given;   /* goes in one piece, as the program gave it: all between two groups, and functions with lists, but
                      * for MPI_Allgatherv in pieces */
    struct block_lists_side sent; /* then: what means something on this rank */
    struct block_lists_side received;
    struct message send;
    struct message receive;
    int send_blocks;
    int receive_blocks;
    bool is_plain_send; /* no gaps between the elements: bytes can be counted off */
    bool is_plain_receive;
    uint64_t send_stride_bytes; /* from one block of this rank's to the next */
    uint64_t receive_stride_bytes;
    uint64_t block_bytes;
    uint64_t longest_bytes; /* as in struct collective_work */
    bool is_in_a_row;       /* then what is received is put where the list says afterwards */
    int64_t begun_ns;
    int64_t begun_ran_ns; /* stall_ran_ns() then */
    enum collective_choice_kind kind;
    struct collective_choice *choice; /* NULL: nothing is learnt */
};

/* What it names of each buffer, where that means something: so many blocks. */
static inline struct block_lists_side collective_call_sent(const struct collective_call *call, int blocks)
{
    const struct collective_call_arguments *given = &call->given;
    return (struct block_lists_side){
        .count = given->send_count, .type = given->send_type, .list = given->send_list, .blocks = blocks};
}

static inline struct block_lists_side collective_call_received(const struct collective_call *call, int blocks)
{
    const struct collective_call_arguments *given = &call->given;
    return (struct block_lists_side){
        .count = given->receive_count, .type = given->receive_type, .list = given->receive_list, .blocks = blocks};
}

/* Of what it sends or receives, whichever is more. */
static inline uint64_t collective_call_bytes(const struct collective_call *call)
{
    return call->receive.bytes > call->send.bytes ? call->receive.bytes : call->send.bytes;
}

/* It was given to MPI, or waits: counted, and drawn where the run is. */
static inline void collective_call_note_pass(const struct collective_call *call, enum reason reason, uint64_t bytes)
{
    record_pass(reason, bytes);
    if (observer_draws())
        observer.op_passed(call_site_of(call->given.caller), POLICY_COLLECTIVE, reason, bytes);
}

#endif
