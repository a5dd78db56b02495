/* SPDX-License-Identifier: MIT */
#include "mpi/message/matched.h"

#include "mpi/request/completion.h"
#include "mpi/dispatch.h"
#include "op/away.h"
#include "op/transfer.h"
#include "mpi/entries.h"
#include "mpi/message/message_probe.h"
#include "mpi/request/freed.h"
#include "mpi/status.h"

static int matched_start(const struct message *message, void *buffer, MPI_Request *request)
{
    return real_sized_MPI_Imrecv(buffer, message->count, message->datatype, message->matched, request,
                                 message_is_huge(message));
}

/* MPI_Mrecv, without keeping the gate. */
static int matched_pass(const struct message *message, MPI_Status *status)
{
    dispatch_wait_argument(status, sizeof *status);
    return message_carry_inline(message, matched_start, status);
}

/* Too small to hold after all, or longer than the buffer: an error that MPI
 * reports at once. The hold still covers the whole buffer: a datatype may put the
 * first bytes of a message anywhere in it. */
static enum reason matched_judge(struct message *message, const MPI_Status *status)
{
    MPI_Count bytes = status_length_bytes(status);
    if (bytes < 0 || (uint64_t)bytes > message->bytes)
        return REASON_STATUS;
    message->bytes = (uint64_t)bytes;
    return message->bytes < options.threshold_bytes ? REASON_SMALL : REASON_NONE;
}

/* Nobody asks the op for a status: it is given now. */
static int matched_early(struct message *message, MPI_Status *status, const MPI_Status *probed)
{
    MPI_Request request;
    int result;
    dispatch_wait_argument(status, sizeof *status);
    /* MPICH's probes leave the mark of a cancelled message as it was; its receives do not. */
    MPI_Status exact = *probed;
    real.MPI_Status_set_cancelled(&exact, 0);
    status_copy(status, &exact);
    message->promised = NULL;
    enum reason reason = message_start_early(message, matched_start, &request, &result);
    if (reason == REASON_NONE)
        return result;
    message_note_pass(message, reason);
    return reason == REASON_FINISHED_AT_ONCE ? result : matched_pass(message, status);
}

static int matched_carry(struct message *message, MPI_Status *status, const MPI_Status *probed)
{
    enum reason reason = matched_judge(message, probed);
    if (reason == REASON_NONE)
        return matched_early(message, status, probed);
    message_note_pass(message, reason);
    return matched_pass(message, status);
}

int matched_receive(struct message *message, MPI_Status *status)
{
    MPI_Status probed;
    MPI_Message matched;
    message->matched = &matched;
    int result = message_probe_match(message->peer, message->tag, message->comm, &matched, &probed);
    return result == MPI_SUCCESS ? matched_carry(message, status, &probed) : result;
}

static int matched_pass_now(const struct message *m, MPI_Message *handle, MPI_Status *status)
{
    return real_sized_MPI_Mrecv(m->buffer, m->count, m->datatype, handle, status, m->has_large_count);
}

/* The handle is ours while the message is received: the program's may lie on a
 * page that is held by then. */
static int matched_take(struct message *message, MPI_Message *handle, MPI_Status *status, const MPI_Status *probed)
{
    MPI_Message matched = *handle;
    message->matched = &matched;
    *handle = abi_handles.message_null;
    int result = probed == NULL ? matched_pass(message, status) : matched_carry(message, status, probed);
    if (result != MPI_SUCCESS && matched != abi_handles.message_null)
        *handle = matched;
    return result;
}

static int matched_judged(struct message *message, MPI_Message *handle, MPI_Status *status, const void *return_address)
{
    MPI_Status probed;
    message->direction = POLICY_RECEIVE;
    message_measure(message);
    dispatch_wait_argument(handle, sizeof *handle);
    enum reason reason = message_judge(message, return_address);
    if (reason == REASON_NONE && !message_probe_recall(*handle, &probed))
        reason = REASON_STATUS;
    if (reason == REASON_NONE)
        return matched_take(message, handle, status, &probed);
    message_note_pass(message, reason);
    if (completion_must_loop())
        return matched_take(message, handle, status, NULL);
    dispatch_wait_argument(status, sizeof *status);
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_WRITES);
    dispatch_enter();
    return dispatch_leave_and_tell(matched_pass_now(message, handle, status));
}

static int matched_call(struct message *message, MPI_Message *handle, MPI_Status *status, const void *return_address)
{
    int result = matched_judged(message, handle, status, return_address);
    freed_requests_await();
    away_begin();
    return result;
}

int entry_MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct message receive = message_of(buf, count, datatype, 0, 0, abi_handles.comm_null);
    return matched_call(&receive, message, status, __builtin_return_address(0));
}

int entry_MPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct message receive = message_of(buf, count, datatype, 0, 0, abi_handles.comm_null);
    receive.has_large_count = true;
    return matched_call(&receive, message, status, __builtin_return_address(0));
}
