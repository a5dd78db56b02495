/* SPDX-License-Identifier: MIT */
/* The request is a generalized one (MPI 4.1, 13.2), which MPI tests and frees as any other. It is completed once the
 * data are in the buffer, by whoever looks for that: the engine, and every call of the program that enters MPI
 * (dispatch.c). */
#include "mpi/early/early_request.h"

#include <stdlib.h>

#include "mpi/dispatch.h"
#include "mpi/message/exchange.h"
#include "mpi/early.h"
#include "mpi/early/early_messages.h"
#include "mpi/status.h"

/* What the program finds when it waits, and until then where the data go. Freed with the request. */
struct outcome {
    struct early_message_claim claim; /* first: a claim is its outcome */
    MPI_Status status;
    int result;
    MPI_Request request;
    struct message receive;
};

static int outcome_query(void *extra_state, MPI_Status *status)
{
    const struct outcome *outcome = extra_state;
    real.MPI_Status_set_elements_x(status, abi_handles.byte, status_length_bytes(&outcome->status));
    real.MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = outcome->status.MPI_SOURCE;
    status->MPI_TAG = outcome->status.MPI_TAG;
    return outcome->result;
}

static int outcome_free(void *extra_state)
{
    free(extra_state);
    return MPI_SUCCESS;
}

/* What has been matched is not cancelled any more (MPI 4.1, 3.8.4). */
static int outcome_cancel(void *extra_state, int is_complete)
{
    return MPI_SUCCESS;
}

static void outcome_complete(struct early_message_claim *claim, struct early_message *message)
{
    struct outcome *outcome = (struct outcome *)claim;
    outcome->result = early_message_give(message, &outcome->receive);
    real.MPI_Type_free(&outcome->receive.datatype);
    atomic_fetch_sub_explicit(&early.claims, 1, memory_order_relaxed);
    real.MPI_Grequest_complete(outcome->request);
}

/* The program may free its datatype as soon as it has begun to receive. (A duplicate would copy attributes, by the
 * program's functions.) */
static MPI_Datatype outcome_type(MPI_Datatype datatype)
{
    MPI_Datatype kept;
    real.MPI_Type_contiguous(1, datatype, &kept);
    real.MPI_Type_commit(&kept);
    return kept;
}

static void outcome_begin(struct outcome *outcome, struct early_message *message, const struct message *receive)
{
    *outcome =
        (struct outcome){.claim = {outcome_complete}, .status = *early_message_status(message), .receive = *receive};
    message_measure(&outcome->receive);
    outcome->receive.datatype = outcome_type(receive->datatype);
    real.MPI_Grequest_start(outcome_query, outcome_free, outcome_cancel, outcome, &outcome->request);
    dispatch_track(outcome->request, receive->buffer, receive->count, receive->datatype);
    atomic_fetch_add_explicit(&early.claims, 1, memory_order_relaxed);
}

bool early_request_start(const struct message *receive, MPI_Request *request, int *result)
{
    struct early_message *message = early_message_find(receive->peer, receive->tag, receive->comm);
    struct outcome *outcome = message == NULL ? NULL : malloc(sizeof *outcome);
    if (message == NULL)
        return false;
    *result = outcome == NULL ? MPI_ERR_OTHER : exchange_check_receive(receive);
    if (*result != MPI_SUCCESS) {
        free(outcome);
        return true;
    }
    outcome_begin(outcome, message, receive);
    *request = outcome->request;
    early_message_give_to(message, &outcome->claim);
    return true;
}
