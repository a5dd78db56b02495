/* SPDX-License-Identifier: MIT */
/* MPI_Sendrecv (MPI 4.1, 3.10): a send and a receive that run at once. Each
 * half returns early or not by its own judgement; a half that does not is
 * waited for here. */
#include "dispatch.h"
#include "engine/gate.h"
#include "intercept/entries.h"
#include "message.h"
#include "record/record.h"
#include "statuses.h"

/* One half under way: what is left to wait for. */
struct half {
    const struct message *message;
    MPI_Request request;
    int result;
};

static enum reason sendrecv_judge_receive(struct message *receive, const struct message *send, MPI_Status *status,
                                          const void *return_address)
{
    bool has_wildcard = receive->peer == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG;
    enum reason reason = message_judge(receive, return_address);
    if (reason != REASON_NONE)
        return reason;
    /* A message from anybody is for who called first: see receive.c. */
    if (receive->peer == MPI_ANY_SOURCE)
        return REASON_STATUS;
    if (!status_is_ignored(status) && (has_wildcard || !statuses_can_promise(receive->bytes)))
        return REASON_STATUS;
    /* MPI would read the send buffer from a page that nobody may touch. */
    if (base_ranges_overlap(base_pages_of(receive->range), base_pages_of(send->range)))
        return REASON_OVERLAPPING_BUFFERS;
    return REASON_NONE;
}

static struct half sendrecv_start(struct message *message, enum reason reason, message_start_fn *start,
                                  MPI_Status *status)
{
    struct half half = {.message = message, .request = abi_handles.request_null, .result = MPI_SUCCESS};
    if (reason == REASON_NONE)
        reason = message_start_early(message, start, status, &half.request, &half.result);
    if (reason == REASON_NONE)
        return half;
    record_pass(reason, message->bytes);
    if (reason == REASON_FINISHED_AT_ONCE || half.request != abi_handles.request_null)
        return half;
    half.result = message_start_inline(message, start, &half.request);
    return half;
}

static int sendrecv_finish(struct half *half, MPI_Status *status)
{
    if (half->result != MPI_SUCCESS || half->request == abi_handles.request_null)
        return half->result;
    return message_finish(half->message, &half->request, status);
}

/* The receive first: a ready receiver spares the sender a copy. */
static int sendrecv_split(struct message *send, enum reason send_reason, struct message *receive,
                          enum reason receive_reason, MPI_Status *status)
{
    MPI_Status own_status;
    dispatch_wait_argument(status, sizeof *status);
    struct half in = sendrecv_start(receive, receive_reason, message_start_receive, status);
    struct half out = in;
    if (in.result == MPI_SUCCESS)
        out = sendrecv_start(send, send_reason, message_start_send, MPI_STATUS_IGNORE);
    bool is_inline = in.request != abi_handles.request_null;
    int in_result = sendrecv_finish(&in, &own_status);
    /* Also after a failed receive: the send is under way, and its buffer in use. */
    int out_result = sendrecv_finish(&out, MPI_STATUS_IGNORE);
    if (is_inline && in_result == MPI_SUCCESS)
        statuses_copy(status, &own_status);
    return in_result != MPI_SUCCESS ? in_result : out_result;
}

static bool sendrecv_must_split(enum reason send_reason, enum reason receive_reason)
{
    return send_reason == REASON_NONE || receive_reason == REASON_NONE;
}

/* Passed whole: both halves for reasons of their own. */
static void sendrecv_prepare_pass(const struct message *send, enum reason send_reason, const struct message *receive,
                                  enum reason receive_reason, MPI_Status *status)
{
    record_pass(send_reason, send->bytes);
    record_pass(receive_reason, receive->bytes);
    dispatch_wait_argument(status, sizeof *status);
    dispatch_wait_buffer(send->buffer, send->count, send->datatype, DISPATCH_READS);
    dispatch_wait_buffer(receive->buffer, receive->count, receive->datatype, DISPATCH_WRITES);
}

static bool sendrecv_fits_int(const struct message *send, const struct message *receive)
{
    return send->count <= INT32_MAX && receive->count <= INT32_MAX;
}

/* True when the call was carried out, with *result. */
static bool sendrecv_try(struct message *send, struct message *receive, MPI_Status *status, const void *return_address,
                         int *result)
{
    send->direction = POLICY_SEND;
    receive->direction = POLICY_RECEIVE;
    message_measure(send);
    message_measure(receive);
    enum reason send_reason = message_judge(send, return_address);
    enum reason receive_reason = sendrecv_judge_receive(receive, send, status, return_address);
    /* The halves are started with int counts. */
    bool can_split = sendrecv_fits_int(send, receive);
    if (!can_split && sendrecv_must_split(send_reason, receive_reason))
        send_reason = receive_reason = REASON_DATATYPE;
    /* Passed whole while other ops are pending, it would keep the gate. */
    bool would_block = engine_pending() != 0 && !gate_is_inside();
    if (can_split && (sendrecv_must_split(send_reason, receive_reason) || would_block)) {
        *result = sendrecv_split(send, send_reason, receive, receive_reason, status);
        return true;
    }
    sendrecv_prepare_pass(send, send_reason, receive, receive_reason, status);
    return false;
}

int entry_MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct message send = {.buffer = (void *)sendbuf,
                           .count = sendcount,
                           .datatype = sendtype,
                           .peer = dest,
                           .tag = sendtag,
                           .comm = comm};
    struct message receive = {
        .buffer = recvbuf, .count = recvcount, .datatype = recvtype, .peer = source, .tag = recvtag, .comm = comm};
    int result;
    if (sendrecv_try(&send, &receive, status, __builtin_return_address(0), &result))
        return result;
    dispatch_enter();
    return dispatch_leave(real.MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                                            source, recvtag, comm, status));
}

int entry_MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
    struct message send = {.buffer = (void *)sendbuf,
                           .count = sendcount,
                           .datatype = sendtype,
                           .peer = dest,
                           .tag = sendtag,
                           .comm = comm};
    struct message receive = {
        .buffer = recvbuf, .count = recvcount, .datatype = recvtype, .peer = source, .tag = recvtag, .comm = comm};
    int result;
    if (sendrecv_try(&send, &receive, status, __builtin_return_address(0), &result))
        return result;
    dispatch_enter();
    return dispatch_leave(real.MPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                                              source, recvtag, comm, status));
}
