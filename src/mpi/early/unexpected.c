/* SPDX-License-Identifier: MIT */
#include "mpi/early/unexpected.h"

#include <sched.h>

#include "mpi/early/channels.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "mpi/errors.h"
#include "mpi/message/exchange.h"
#include "op/copies.h"
#include "mpi/poke.h"
#include "record/record.h"
#include "mpi/message/statuses.h"
#include "mpi/early/taken.h"

enum { TAKEN_MAX = 64, OWN_RANK = 0, OWN_TAG = 1 /* poke.c has the other */ };

bool unexpected_is_used;

struct unexpected {
    uint64_t number; /* in the order of taking; 0: not in use */
    MPI_Comm comm;   /* null: gone, nobody can ask for it any more */
    struct errors_home home;
    MPI_Status status;
    MPI_Request request;
    bool has_come;
    int result;
    int length_bytes;
    void *data;            /* copies.h */
    struct outcome *claim; /* the MPI_Irecv that it has been given to (unexpected_request.c) */
};

static struct {
    uint64_t last_number;
    struct unexpected all[TAKEN_MAX];
} taken;

static struct unexpected *taken_slot(void)
{
    for (int i = 0; i < TAKEN_MAX; i++) {
        if (taken.all[i].number == 0)
            return &taken.all[i];
    }
    return NULL;
}

/* Nothing happens where that has been done. */
static void taken_free(struct unexpected *unexpected)
{
    copies_give_back(unexpected->data);
    *unexpected = (struct unexpected){0};
}

static bool taken_match(struct unexpected *slot, const struct channel *channel, int tag, int length_bytes)
{
    int is_found = 0;
    MPI_Message handle;
    MPI_Status status = {0}; /* MPICH's probes leave the mark of a cancelled message as it was */
    int result = real.MPI_Improbe(channel->source, tag, channel->comm, &is_found, &handle, &status);
    if (result != MPI_SUCCESS || !is_found)
        return false;
    *slot =
        (struct unexpected){.number = ++taken.last_number, .comm = channel->comm, .status = status, .data = slot->data};
    slot->home = errors_home_of(channel->comm);
    slot->length_bytes = length_bytes;
    slot->result = real.MPI_Imrecv(slot->data, length_bytes, abi_handles.packed, &handle, &slot->request);
    slot->has_come = slot->result != MPI_SUCCESS;
    return true;
}

bool taken_add(const struct channel *channel, int tag, int length_bytes)
{
    struct unexpected *slot = taken_slot();
    if (slot == NULL || (slot->data = copies_room((size_t)length_bytes)) == NULL)
        return false;
    bool is_taken = taken_match(slot, channel, tag, length_bytes);
    if (!is_taken)
        taken_free(slot);
    return is_taken;
}

bool unexpected_has_come(struct unexpected *unexpected)
{
    int is_over = 0;
    if (!unexpected->has_come) {
        unexpected->result = errors_test(&unexpected->home, &unexpected->request, &is_over, MPI_STATUS_IGNORE);
        unexpected->has_come = is_over || unexpected->result != MPI_SUCCESS;
    }
    return unexpected->has_come;
}

/* What a claim waits for is the claim's now; what nobody can ask for is forgotten. */
static void taken_advance(struct unexpected *unexpected)
{
    if (unexpected->number == 0 || !unexpected_has_come(unexpected))
        return;
    if (unexpected->claim != NULL)
        outcome_complete(unexpected->claim, unexpected);
    else if (unexpected->comm == abi_handles.comm_null)
        taken_free(unexpected);
}

void taken_look(void)
{
    for (int i = 0; i < TAKEN_MAX; i++)
        taken_advance(&taken.all[i]);
}

void taken_claim(struct unexpected *unexpected, struct outcome *claim)
{
    unexpected->claim = claim;
    taken_advance(unexpected);
}

static bool unexpected_matches(const struct unexpected *unexpected, int source, int tag, MPI_Comm comm)
{
    bool is_wanted = source == MPI_ANY_SOURCE || source == unexpected->status.MPI_SOURCE;
    return unexpected->number != 0 && unexpected->claim == NULL && unexpected->comm == comm && is_wanted &&
           (tag == MPI_ANY_TAG || tag == unexpected->status.MPI_TAG);
}

struct unexpected *unexpected_find(int source, int tag, MPI_Comm comm)
{
    struct unexpected *oldest = NULL;
    if (!unexpected_is_used || comm == abi_handles.comm_null)
        return NULL;
    for (int i = 0; i < TAKEN_MAX; i++) {
        struct unexpected *unexpected = &taken.all[i];
        bool is_older = oldest == NULL || unexpected->number < oldest->number;
        if (unexpected_matches(unexpected, source, tag, comm) && is_older)
            oldest = unexpected;
    }
    return oldest;
}

const MPI_Status *unexpected_status(const struct unexpected *unexpected)
{
    return &unexpected->status;
}

/* Packed data match every type (MPI 4.1, 5.2), and MPI itself lays them out as the receive's type wants. */
static int unexpected_copy(const struct unexpected *u, const struct message *m)
{
    MPI_Datatype packed = abi_handles.packed;
    MPI_Comm own = poke_comm();
    if (m->count <= INT32_MAX)
        return real.MPI_Sendrecv(u->data, u->length_bytes, packed, OWN_RANK, OWN_TAG, m->buffer, (int)m->count,
                                 m->datatype, OWN_RANK, OWN_TAG, own, MPI_STATUS_IGNORE);
    return real.MPI_Sendrecv_c(u->data, u->length_bytes, packed, OWN_RANK, OWN_TAG, m->buffer, m->count, m->datatype,
                               OWN_RANK, OWN_TAG, own, MPI_STATUS_IGNORE);
}

/* Stock Open MPI 4.1 writes past a buffer that is too short. */
static bool unexpected_is_too_long(const struct unexpected *unexpected, const struct message *receive)
{
    return receive->is_measured && (uint64_t)unexpected->length_bytes > receive->bytes;
}

int unexpected_give(struct unexpected *unexpected, const struct message *receive)
{
    int result = unexpected->result;
    if (result == MPI_SUCCESS && unexpected_is_too_long(unexpected, receive))
        result = MPI_ERR_TRUNCATE;
    if (result == MPI_SUCCESS)
        result = unexpected_copy(unexpected, receive);
    record_count(RECORD_TAKEN, 1);
    record_count(RECORD_TAKEN_BYTES, (uint64_t)unexpected->length_bytes);
    taken_free(unexpected);
    return result;
}

static int unexpected_come_look(void *unexpected, int *is_over)
{
    *is_over = unexpected_has_come(unexpected);
    return MPI_SUCCESS;
}

static int unexpected_raise(MPI_Comm comm, int result)
{
    if (result != MPI_SUCCESS)
        real.MPI_Comm_call_errhandler(comm, result);
    return result;
}

static int unexpected_receive_found(struct unexpected *unexpected, struct message *receive, MPI_Status *status)
{
    MPI_Status probed = unexpected->status;
    message_measure(receive);
    dispatch_wait_argument(status, sizeof *status);
    dispatch_wait_buffer(receive->buffer, receive->count, receive->datatype, DISPATCH_WRITES);
    dispatch_block(unexpected_come_look, unexpected);
    dispatch_enter();
    statuses_copy(status, &probed);
    return dispatch_leave(unexpected_raise(receive->comm, unexpected_give(unexpected, receive)));
}

static struct unexpected *unexpected_for(const struct message *receive)
{
    if (!unexpected_is_used)
        return NULL;
    gate_enter();
    struct unexpected *unexpected = unexpected_find(receive->peer, receive->tag, receive->comm);
    gate_leave();
    return unexpected;
}

bool unexpected_awaits(const struct message *receive)
{
    return unexpected_for(receive) != NULL;
}

bool unexpected_receive(struct message *receive, MPI_Status *status, int *result)
{
    struct unexpected *unexpected = unexpected_for(receive);
    if (unexpected == NULL)
        return false;
    *result = exchange_check_receive(receive); /* wrong arguments lose no message */
    if (*result == MPI_SUCCESS)
        *result = unexpected_receive_found(unexpected, receive, status);
    return true;
}

static void unexpected_forget(MPI_Comm comm)
{
    channels_forget(comm);
    for (int i = 0; i < TAKEN_MAX; i++) {
        if (taken.all[i].comm == comm)
            taken.all[i].comm = abi_handles.comm_null;
    }
}

int unexpected_end_comm(MPI_Comm *comm, unexpected_end_fn *end)
{
    MPI_Comm ended = abi_handles.comm_null;
    transfer_wait_due();
    dispatch_wait_argument(comm, sizeof *comm);
    dispatch_enter();
    if (comm != NULL)
        ended = *comm;
    int result = end(comm);
    if (result == MPI_SUCCESS)
        unexpected_forget(ended);
    return dispatch_leave(result);
}

/* What the program has not received yet is received all the same: its sender does not wait for us. */
bool unexpected_settle(void)
{
    bool is_empty = true;
    for (int i = 0; i < TAKEN_MAX; i++) {
        struct unexpected *unexpected = &taken.all[i];
        while (unexpected->number != 0 && !unexpected_has_come(unexpected))
            sched_yield();
        taken_advance(unexpected);
        is_empty = is_empty && unexpected->number == 0;
    }
    return is_empty;
}

void unexpected_finish(void)
{
    if (!unexpected_is_used)
        return;
    for (int i = 0; i < TAKEN_MAX; i++)
        taken_free(&taken.all[i]);
    taking_finish();
}
