/* SPDX-License-Identifier: MIT */
/* MPI_Irecv of a message that was taken: its request is a generalized one (MPI 4.1, 13.2), which MPI
 * completes, tests and frees as any other. */
#include <sched.h>
#include <stdlib.h>

#include "dispatch.h"
#include "unexpected.h"

/* What the program finds in its status. */
struct outcome {
    MPI_Count length_bytes;
    int source;
    int tag;
};

static int outcome_query(void *extra_state, MPI_Status *status)
{
    const struct outcome *outcome = extra_state;
    real.MPI_Status_set_elements_x(status, abi_handles.byte, outcome->length_bytes);
    real.MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = outcome->source;
    status->MPI_TAG = outcome->tag;
    return MPI_SUCCESS;
}

static int outcome_free(void *extra_state)
{
    free(extra_state);
    return MPI_SUCCESS;
}

static int outcome_cancel(void *extra_state, int is_complete)
{
    return MPI_SUCCESS;
}

static int outcome_request(const MPI_Status *status, MPI_Request *request)
{
    struct outcome *outcome = malloc(sizeof *outcome);
    if (outcome == NULL)
        return MPI_ERR_OTHER;
    *outcome = (struct outcome){.source = status->MPI_SOURCE, .tag = status->MPI_TAG};
    real.MPI_Get_elements_x(status, abi_handles.byte, &outcome->length_bytes);
    real.MPI_Grequest_start(outcome_query, outcome_free, outcome_cancel, outcome, request);
    dispatch_track(*request, NULL, 0, abi_handles.byte);
    return real.MPI_Grequest_complete(*request);
}

/* Its sender's engine sends what is left of it, whatever the sender's program does. */
static void message_await(struct unexpected *unexpected)
{
    while (!unexpected_has_come(unexpected))
        sched_yield();
}

bool unexpected_start(const struct message *receive, MPI_Request *request, int *result)
{
    struct message measured = *receive;
    struct unexpected *unexpected = unexpected_find(receive->peer, receive->tag, receive->comm);
    if (unexpected == NULL)
        return false;
    message_await(unexpected);
    MPI_Status status = *unexpected_status(unexpected);
    message_measure(&measured);
    *result = unexpected_give(unexpected, &measured);
    if (*result == MPI_SUCCESS)
        *result = outcome_request(&status, request);
    return true;
}
