/* SPDX-License-Identifier: MIT */
/* One direction of a blocking call, and the question whether it may return
 * early. */
#ifndef MPI_MESSAGE_MESSAGE_H
#define MPI_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/range.h"
#include "base/reasons.h"
#include "op/busy.h"
#include "op/session.h"
#include "op/straight.h"
#include "op/transfer.h"
#include "record/record.h"
#include "mpi/datatypes.h"

struct message {
    enum policy_direction direction;
    void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer;
    int tag;
    MPI_Comm comm;
    bool has_large_count; /* the program called the function for large counts: so it is passed */
    MPI_Status *promised; /* of a receive: what a call that returns early promises its program; NULL: nothing */
    MPI_Message *matched; /* what this receives, once it is matched (matched.h) */
    bool starts_apart;    /* a receive whose data the engine asks for (message_turn.h) */
    bool is_copied;       /* a send from a copy of ours: nothing to hold */
    void *copy;           /* that block, once it is there; whoever ends the message frees it */
    /* A send that never waits: its pages move, and the program gets copies of those that it touches.
     * Not 0 then: what is reserved for that; whoever ends the message gives it back. */
    size_t reserved_bytes;
    /* Filled by message_measure(). */
    bool is_measured; /* layout known */
    bool has_gaps;    /* `range` holds other bytes too */
    bool is_list;     /* of blocks that lie anywhere in `range` */
    uint64_t bytes;
    struct range range;
    struct policy_site *site;
    uint32_t situation;       /* in which the site is called (policy.h) */
    const void *caller;       /* return address of the call, once it is judged */
    enum session_order order; /* of a receive that may return early */
};

static inline struct message message_of(void *buffer, MPI_Count count, MPI_Datatype datatype, int peer, int tag,
                                        MPI_Comm comm)
{
    return (struct message){
        .buffer = buffer, .count = count, .datatype = datatype, .peer = peer, .tag = tag, .comm = comm};
}

/* A count beyond an int only comes from a large-count entry: this MPI has the others, too. */
static inline bool message_is_huge(const struct message *message)
{
    return message->count > INT32_MAX;
}

/* Sends from a copy from now on. False without the memory for it, or where the program cannot read the gaps, too; then
 * nothing has changed. The message is whole (message_is_whole()). */
bool message_copy(struct message *message);

/* How the send will leave its buffer to the program, as its site has learnt; nothing changes where that cannot be. */
void message_choose_way(struct message *message);

/* Reserves what a send needs to move, with copies for the program of what it touches. False where that cannot be. */
bool message_copy_touched(struct message *message);

/* A send that was to move is held where it is. */
void message_stay(struct message *message);

/* Inside the gate: MPI must not find the pages gone that move, neither for a request of the program that sends them,
 * too, nor for another op. */
bool message_pages_are_free(struct range pages);

/* Is it a send of which a receive under way holds pages, but no bytes (protect/beside.h)? */
bool message_is_beside(const struct message *message);

/* The op has what was taken for the message. */
void message_hand_over(struct message *message);

/* Gives back what no op has. */
void message_give_back(struct message *message);

/* Fills where the bytes lie. Cheap: for every message. */
void message_measure(struct message *message);

/* The way of most messages: nothing is pending, and the message is known to be small. Counts it; the caller gives the
 * call to MPI. */
static inline bool message_goes_straight(MPI_Count count, MPI_Datatype datatype)
{
    return straight_passes(count, (uint64_t)(uintptr_t)datatype);
}

/* MPI_THREAD_MULTIPLE: the way of most small messages, where nothing is pending either. True: inside the gate, and
 * counted; the caller gives the call to MPI, and its result to dispatch_leave_idle(). */
bool message_enter_small(MPI_Count count, MPI_Datatype datatype);

/* Is it known to be small, by its type? Then of *bytes. */
bool message_is_known_small(MPI_Count count, MPI_Datatype datatype, uint64_t *bytes);

static inline bool message_enters_small(MPI_Count count, MPI_Datatype datatype)
{
    return busy_is_shared() && message_enter_small(count, datatype);
}

/* Is it below the threshold (or not to be measured)? Cheap. */
static inline bool message_is_small(const struct message *message)
{
    return message->bytes < options.threshold_bytes;
}

/* It is, and is passed: the next ones of its type may go straight. */
static inline enum reason message_pass_small(const struct message *message)
{
    datatype_learn_small(datatype_layout(message->datatype));
    return REASON_SMALL;
}

/* Do all bytes of `range` belong to the program's buffer, the gaps included? */
bool message_is_whole(const struct message *message);

/* Why this message must be passed, or REASON_NONE. Looks at everything but the
 * neighbours and the table of ops. */
enum reason message_judge(struct message *message, const void *return_address);

/* The message goes to MPI: counts that, and tells the picture of the run. */
void message_note_pass(const struct message *message, enum reason reason);

/* A receive that was passed has brought so much: what was noted before was the room for it. */
void message_note_came(const struct message *message, enum reason reason, const MPI_Status *status);

/* The same for what no site's history speaks of: can its memory be held? */
enum reason message_judge_to_hold(const struct message *message);

/* Must a receive be matched (matched.h) before its call returns? When its status
 * cannot be promised: source and tag of one with wildcards. And always with
 * MPI_ANY_SOURCE: a message that is sent because the call returned, also by the
 * process itself, must not be taken instead. (One source's messages keep their
 * order, whatever the tag: MPI 4.1, 3.5.) */
bool message_must_match(const struct message *message);

/* What MPI says of its arguments; nothing begins. Inside the gate. message->direction is not looked at: messages that
 * entries describe have none yet. */
int message_check(const struct message *message, enum policy_direction direction);

/* Starts a nonblocking send or receive of the message at `buffer`. Inside the gate. */
typedef int message_start_fn(const struct message *message, void *buffer, MPI_Request *request);
int message_start_send(const struct message *message, void *buffer, MPI_Request *request);
int message_start_ready_send(const struct message *message, void *buffer, MPI_Request *request);
int message_start_synchronous_send(const struct message *message, void *buffer, MPI_Request *request);
int message_start_receive(const struct message *message, void *buffer, MPI_Request *request);

/* Starts the message, and holds its memory until it is over. On REASON_NONE the
 * call may return *result. Otherwise, when *request is not MPI_REQUEST_NULL the
 * message is under way and must be waited for; else nothing was started. */
enum reason message_start_early(struct message *message, message_start_fn *start, MPI_Request *request, int *result);

/* Under which its bytes are tracked: no request has the address of our frame. */
static inline uint64_t message_key(const struct message *message)
{
    return (uint64_t)(uintptr_t)message;
}

/* A message that is waited for within its call, but not inside MPI: the pending
 * ops are tested in between, so that other threads' touches are released in the
 * meantime. Started by message_start_inline() (or under way already), ended by
 * message_finish(), which returns the message's own result; tracked while it
 * lasts, so that no hold arms around it. */
int message_start_inline(const struct message *message, message_start_fn *start, MPI_Request *request);
int message_finish(const struct message *message, MPI_Request *request, MPI_Status *status);

/* Both, when starting went well; then a late error, if there is one. */
int message_carry_inline(const struct message *message, message_start_fn *start, MPI_Status *status);

#endif
