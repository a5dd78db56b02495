/* SPDX-License-Identifier: MIT */
/* MPI_Recv (MPI 4.1, 3.2.4). With a named source and tag, or when nobody looks
 * at the status, the call returns early with a provisional status. With a
 * wildcard and a status the message is matched first (MPI_Mprobe), so that
 * source, tag and count are exact, and then its data flow in the background. In
 * jobs of more than two ranks what follows starts in its turn (message_turn.h). */
#include "mpi/request/completion.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/away.h"
#include "op/session.h"
#include "op/transfer.h"
#include "op/wait.h"
#include "mpi/entries.h"
#include "mpi/message/exchange.h"
#include "mpi/message/matched.h"
#include "mpi/message/message.h"
#include "mpi/request/freed.h"
#include "mpi/status.h"
#include "mpi/early.h"

static bool receive_is_announced(const struct message *message)
{
    int is_found = 0;
    gate_enter();
    real.MPI_Iprobe(message->peer, message->tag, message->comm, &is_found, MPI_STATUS_IGNORE);
    gate_leave();
    return is_found != 0;
}

/* Where more ranks take part another one may keep the send waiting for longer than this one's message takes. */
static bool receive_may_be_late(const struct message *message)
{
    bool is_named = message->peer != MPI_PROC_NULL && message->comm != abi_handles.comm_null;
    return is_named && !early.is_on && !session_has_others();
}

/* Waits for memory that is still being sent, where the peer is late: had that send gone from a copy, what is received
 * now would not come sooner. So it is where a buffer goes to and fro between two ranks, and each answers the other.
 * Wrong arguments are not for MPI_Iprobe to find. */
static int receive_wait_if_late(const struct message *message, bool is_held)
{
    if (!is_held || !receive_may_be_late(message))
        return MPI_SUCCESS;
    int result = exchange_check_receive(message);
    if (result == MPI_SUCCESS && !receive_is_announced(message))
        wait_range_uncounted(message->range, false);
    return result;
}

static int receive_pass_now(const struct message *m, MPI_Status *status)
{
    return real_sized_MPI_Recv(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, status, m->has_large_count);
}

/* As in send.c: the gate is not kept while the message is on its way. */
static int receive_pass(const struct message *message, MPI_Status *status)
{
    if (busy_is_clear())
        return receive_pass_now(message, status);
    dispatch_wait_argument(status, sizeof *status);
    if (completion_must_loop())
        return message_carry_inline(message, message_start_receive, status);
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_WRITES);
    dispatch_enter();
    return dispatch_leave_and_tell(receive_pass_now(message, status));
}

/* The record has what came, not the room for it. Of a small message to ask for a status would take longer than the
 * number is worth. */
static int receive_pass_noted(const struct message *message, MPI_Status *status, enum reason reason)
{
    MPI_Status own_status;
    message_note_pass(message, reason);
    if (message_is_small(message))
        return receive_pass(message, status);
    MPI_Status *asked = status == MPI_STATUS_IGNORE ? &own_status : status;
    int result = receive_pass(message, asked);
    if (result == MPI_SUCCESS)
        message_note_came(message, reason, asked);
    return result;
}

static int receive_early(struct message *message, MPI_Status *status)
{
    MPI_Request request;
    int result;
    enum reason reason = message_start_early(message, message_start_receive, &request, &result);
    if (reason == REASON_NONE)
        return result;
    if (reason != REASON_FINISHED_AT_ONCE)
        return receive_pass_noted(message, status, reason);
    message_note_pass(message, reason);
    return result;
}

/* MPI looks at the arguments before it takes a message. So do we: what is matched is nobody else's. */
static int receive_matched(struct message *message, MPI_Status *status)
{
    int result = exchange_check_receive(message);
    return result == MPI_SUCCESS ? matched_receive(message, status) : result;
}

static int receive_judged(struct message *message, MPI_Status *status, const void *return_address)
{
    enum reason reason = message_judge(message, return_address);
    bool is_held = reason != REASON_SMALL && protect_armed_find(message->range, false) != 0;
    if (reason == REASON_NONE && message_must_match(message))
        return receive_matched(message, status);
    int result = receive_wait_if_late(message, is_held);
    if (result != MPI_SUCCESS)
        return result;
    if (reason == REASON_NONE)
        return receive_early(message, status);
    return receive_pass_noted(message, status, reason);
}

/* Some messages are received before they are asked for: this may be one. */
static int receive_beside_early(struct message *message, MPI_Status *status, const void *return_address)
{
    int result;
    early_pause();
    if (!early_receive(message, status, &result))
        result = receive_judged(message, status, return_address);
    early_resume(message, result);
    return result;
}

static int receive_end(int result)
{
    freed_requests_await();
    return result;
}

int carried_MPI_Recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Status *status, bool has_large_count, const void *caller)
{
    if (message_enters_small(count, datatype))
        return receive_end(
            dispatch_leave_idle(real_sized_MPI_Recv(buf, count, datatype, source, tag, comm, status, has_large_count)));
    struct message message = message_of(buf, count, datatype, source, tag, comm);
    message.direction = POLICY_RECEIVE;
    message.has_large_count = has_large_count;
    message_measure(&message);
    message.promised = status_is_ignored(status) ? NULL : status;
    int result =
        early.is_on ? receive_beside_early(&message, status, caller) : receive_judged(&message, status, caller);
    if (transfer_ahead_count() != 0)
        freed_requests_await_some();
    away_begin();
    return result;
}
