/* SPDX-License-Identifier: MIT */
#include "matched.h"

#include <sched.h>

#include "dispatch.h"
#include "engine/gate.h"
#include "record/record.h"
#include "statuses.h"

/* Between matching and receiving, the matched message is this thread's. */
static _Thread_local MPI_Message matched_message;

/* Blocks as MPI_Mprobe does, testing the pending ops in between. */
static int matched_probe(const struct message *message, MPI_Status *status)
{
    int is_matched = 0;
    int result = MPI_SUCCESS;
    program_stall_begin();
    gate_keep_engine_out();
    for (uint32_t round = 0; !is_matched && result == MPI_SUCCESS; round++) {
        dispatch_enter();
        result = real.MPI_Improbe(message->peer, message->tag, message->comm, &is_matched, &matched_message, status);
        gate_leave();
        if (!is_matched)
            transfer_poll_round(round);
    }
    gate_let_engine_in();
    program_stall_end();
    return result;
}

static int matched_start(const struct message *message, void *buffer, MPI_Request *request)
{
    if (message->count <= INT32_MAX)
        return real.MPI_Imrecv(buffer, (int)message->count, message->datatype, &matched_message, request);
    return real.MPI_Imrecv_c(buffer, message->count, message->datatype, &matched_message, request);
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
static enum reason matched_judge(struct message *message, MPI_Status *status)
{
    MPI_Count bytes = MPI_UNDEFINED;
    real.MPI_Get_elements_x(status, abi_handles.byte, &bytes);
    if (bytes < 0 || (uint64_t)bytes > message->bytes)
        return REASON_STATUS;
    if ((uint64_t)bytes < options.threshold_bytes)
        return REASON_SMALL;
    message->bytes = (uint64_t)bytes;
    return REASON_NONE;
}

/* Nobody asks the op for a status: it is given now. */
static int matched_early(struct message *message, MPI_Status *status, const MPI_Status *probed)
{
    MPI_Request request;
    int result;
    dispatch_wait_argument(status, sizeof *status);
    statuses_copy(status, probed);
    enum reason reason = message_start_early(message, matched_start, MPI_STATUS_IGNORE, &request, &result);
    if (reason == REASON_NONE)
        return result;
    record_pass(reason, message->bytes);
    return reason == REASON_FINISHED_AT_ONCE ? result : matched_pass(message, status);
}

int matched_receive(struct message *message, MPI_Status *status)
{
    MPI_Status probed = {0}; /* MPICH's probes leave the mark of a cancelled message as it was */
    int result = matched_probe(message, &probed);
    if (result != MPI_SUCCESS)
        return result;
    enum reason reason = matched_judge(message, &probed);
    if (reason == REASON_NONE)
        return matched_early(message, status, &probed);
    record_pass(reason, message->bytes);
    return matched_pass(message, status);
}
