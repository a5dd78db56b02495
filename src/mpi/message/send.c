/* SPDX-License-Identifier: MIT */
/* MPI_Send and MPI_Rsend (MPI 4.1, 3.4): the call may return before the buffer
 * is free, since a write to it waits. MPI_Ssend promises that the receive has
 * begun, and never returns early. (MPI_Bsend has copied when it returns: there is
 * nothing to hold, and the generated entry passes it.) */
#include "mpi/request/completion.h"
#include "mpi/request/freed.h"
#include "mpi/dispatch.h"
#include "op/away.h"
#include "op/judge.h"
#include "mpi/entries.h"
#include "op/late_errors.h"
#include "op/transfer.h"
#include "mpi/message/message.h"
#include "mpi/early.h"

/* How a kind of send is started early, and MPI's own function for it. */
struct send_kind {
    message_start_fn *start;
    int (*send)(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                bool has_large_count);
};

static const struct send_kind send_standard = {message_start_send, real_sized_MPI_Send};
static const struct send_kind send_ready = {message_start_ready_send, real_sized_MPI_Rsend};
static const struct send_kind send_synchronous = {message_start_synchronous_send, real_sized_MPI_Ssend};

static int send_now(const struct message *m, const struct send_kind *kind)
{
    return kind->send(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, m->has_large_count);
}

static int send_pass_inside(const struct message *message, const struct send_kind *kind)
{
    dispatch_enter();
    return dispatch_leave_and_tell(send_now(message, kind));
}

/* A passed send must not keep the gate while it waits for its receiver: other
 * threads' touches could not be released. */
static int send_pass(const struct message *message, const struct send_kind *kind)
{
    if (busy_is_clear())
        return send_now(message, kind);
    if (completion_must_loop())
        return message_carry_inline(message, kind->start, MPI_STATUS_IGNORE);
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_READS);
    return send_pass_inside(message, kind);
}

static int send_early(struct message *message, const struct send_kind *kind)
{
    MPI_Request request;
    int result;
    enum reason reason = message_start_early(message, kind->start, &request, &result);
    if (reason == REASON_NONE) {
        message_hand_over(message);
        return result;
    }
    message_note_pass(message, reason);
    if (reason == REASON_FINISHED_AT_ONCE)
        return result;
    if (request != abi_handles.request_null)
        return late_errors_or(message_finish(message, &request, MPI_STATUS_IGNORE));
    return send_pass(message, kind);
}

static int send_judged(struct message *message, const struct send_kind *kind, const void *return_address)
{
    enum reason reason = REASON_SYNCHRONOUS;
    /* That the receiver is ready may be what a receive that has returned was to tell. */
    if (kind->start == message_start_ready_send)
        transfer_wait_due();
    message_measure(message);
    if (kind->start == message_start_synchronous_send)
        early_refuse_synchronous(message->count, message->datatype, message->peer, message->comm, "MPI_Ssend");
    else
        reason = message_judge(message, return_address);
    if (reason == REASON_NONE)
        message_choose_way(message);
    else if (judge_may_copy(reason) && message_copy(message))
        reason = REASON_NONE;
    if (reason == REASON_NONE) {
        int result = send_early(message, kind);
        message_give_back(message);
        return result;
    }
    message_note_pass(message, reason);
    return send_pass(message, kind);
}

/* The receive has begun: the receiver may have left the ones before it. */
static int send_end(int result, const struct send_kind *kind)
{
    if (kind == &send_synchronous)
        freed_requests_await();
    return result;
}

/* Inline: small messages go through it, and their kind is known. */
static inline int send_call(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            bool has_large_count, const struct send_kind *kind, const void *return_address)
{
    if (message_enters_small(count, datatype))
        return send_end(dispatch_leave_idle(kind->send(buf, count, datatype, dest, tag, comm, has_large_count)), kind);
    struct message message = message_of((void *)buf, count, datatype, dest, tag, comm);
    message.direction = POLICY_SEND;
    message.has_large_count = has_large_count;
    int result = send_end(send_judged(&message, kind, return_address), kind);
    away_begin();
    return result;
}

int carried_MPI_Send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     bool has_large_count, const void *caller)
{
    return send_call(buf, count, datatype, dest, tag, comm, has_large_count, &send_standard, caller);
}

int carried_MPI_Rsend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      bool has_large_count, const void *caller)
{
    return send_call(buf, count, datatype, dest, tag, comm, has_large_count, &send_ready, caller);
}

int carried_MPI_Ssend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      bool has_large_count, const void *caller)
{
    return send_call(buf, count, datatype, dest, tag, comm, has_large_count, &send_synchronous, caller);
}
