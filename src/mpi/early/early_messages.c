/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_messages.h"

#include <sched.h>

#include "mpi/early.h"
#include "mpi/early/early_channels.h"
#include "mpi/dispatch.h"
#include "mpi/errors.h"
#include "op/copies.h"
#include "mpi/progress.h"
#include "record/record.h"

enum { MESSAGES_MAX = 64 };

struct early_message {
    uint64_t number; /* in the order of coming; 0: not in use */
    MPI_Comm comm;   /* null: gone, nobody can ask for it any more */
    struct errors_home home;
    MPI_Status status;
    MPI_Request request;
    bool has_come;
    int result;
    int length_bytes;
    void *data;                        /* copies.h */
    struct early_message_claim *claim; /* the MPI_Irecv that it has been given to */
};

static struct {
    uint64_t last_number;
    struct early_message all[MESSAGES_MAX];
} messages;

static struct early_message *messages_slot(void)
{
    for (int i = 0; i < MESSAGES_MAX; i++) {
        if (messages.all[i].number == 0)
            return &messages.all[i];
    }
    return NULL;
}

/* Nothing happens where that has been done. */
static void message_free(struct early_message *message)
{
    copies_give_back(message->data);
    *message = (struct early_message){0};
}

static bool message_match(struct early_message *slot, const struct early_channel *channel, int tag, int length_bytes)
{
    int is_found = 0;
    MPI_Message handle;
    MPI_Status status = {0}; /* MPICH's probes leave the mark of a cancelled message as it was */
    int result = real.MPI_Improbe(channel->source, tag, channel->comm, &is_found, &handle, &status);
    if (result != MPI_SUCCESS || !is_found)
        return false;
    *slot = (struct early_message){
        .number = ++messages.last_number, .comm = channel->comm, .status = status, .data = slot->data};
    slot->home = errors_home_of(channel->comm);
    slot->length_bytes = length_bytes;
    slot->result = real.MPI_Imrecv(slot->data, length_bytes, abi_handles.packed, &handle, &slot->request);
    slot->has_come = slot->result != MPI_SUCCESS;
    return true;
}

bool early_message_add(const struct early_channel *channel, int tag, int length_bytes)
{
    struct early_message *slot = messages_slot();
    if (slot == NULL || (slot->data = copies_room((size_t)length_bytes)) == NULL)
        return false;
    bool is_matched = message_match(slot, channel, tag, length_bytes);
    if (!is_matched)
        message_free(slot);
    return is_matched;
}

bool early_message_has_come(struct early_message *message)
{
    int is_over = 0;
    if (!message->has_come) {
        message->result = errors_test(&message->home, &message->request, &is_over, MPI_STATUS_IGNORE);
        message->has_come = is_over || message->result != MPI_SUCCESS;
    }
    return message->has_come;
}

/* What a claim waits for is the claim's now; what nobody can ask for is forgotten. */
static void message_advance(struct early_message *message)
{
    if (message->number == 0 || !early_message_has_come(message))
        return;
    if (message->claim != NULL)
        message->claim->complete(message->claim, message);
    else if (message->comm == abi_handles.comm_null)
        message_free(message);
}

void early_messages_advance(void)
{
    for (int i = 0; i < MESSAGES_MAX; i++)
        message_advance(&messages.all[i]);
}

void early_message_give_to(struct early_message *message, struct early_message_claim *claim)
{
    message->claim = claim;
    message_advance(message);
}

static bool message_matches(const struct early_message *message, int source, int tag, MPI_Comm comm)
{
    bool is_wanted = source == MPI_ANY_SOURCE || source == message->status.MPI_SOURCE;
    return message->number != 0 && message->claim == NULL && message->comm == comm && is_wanted &&
           (tag == MPI_ANY_TAG || tag == message->status.MPI_TAG);
}

struct early_message *early_message_find(int source, int tag, MPI_Comm comm)
{
    struct early_message *oldest = NULL;
    if (!early.is_used || comm == abi_handles.comm_null)
        return NULL;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        struct early_message *message = &messages.all[i];
        bool is_older = oldest == NULL || message->number < oldest->number;
        if (message_matches(message, source, tag, comm) && is_older)
            oldest = message;
    }
    return oldest;
}

const MPI_Status *early_message_status(const struct early_message *message)
{
    return &message->status;
}

/* Packed data match every type (MPI 4.1, 5.2), and MPI itself lays them out as the receive's type wants. */
static int message_copy_to(const struct early_message *u, const struct message *m)
{
    MPI_Datatype packed = abi_handles.packed;
    if (m->count <= INT32_MAX)
        return progress_copy((struct progress_copied){u->data, u->length_bytes, packed},
                             (struct progress_copied){m->buffer, (int)m->count, m->datatype});
    return real.MPI_Sendrecv_c(u->data, u->length_bytes, packed, PROGRESS_RANK, PROGRESS_COPY_TAG, m->buffer, m->count,
                               m->datatype, PROGRESS_RANK, PROGRESS_COPY_TAG, progress_comm(), MPI_STATUS_IGNORE);
}

/* Stock Open MPI 4.1 writes past a buffer that is too short. */
static bool message_is_too_long(const struct early_message *message, const struct message *receive)
{
    return receive->is_measured && (uint64_t)message->length_bytes > receive->bytes;
}

int early_message_give(struct early_message *message, const struct message *receive)
{
    int result = message->result;
    if (result == MPI_SUCCESS && message_is_too_long(message, receive))
        result = MPI_ERR_TRUNCATE;
    if (result == MPI_SUCCESS)
        result = message_copy_to(message, receive);
    record_count(RECORD_TAKEN, 1);
    record_count(RECORD_TAKEN_BYTES, (uint64_t)message->length_bytes);
    message_free(message);
    return result;
}

void early_messages_forget_comm(MPI_Comm comm)
{
    for (int i = 0; i < MESSAGES_MAX; i++) {
        if (messages.all[i].comm == comm)
            messages.all[i].comm = abi_handles.comm_null;
    }
}

bool early_messages_settle(void)
{
    bool is_empty = true;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        struct early_message *message = &messages.all[i];
        while (message->number != 0 && !early_message_has_come(message))
            sched_yield();
        message_advance(message);
        is_empty = is_empty && message->number == 0;
    }
    return is_empty;
}

void early_messages_drop(void)
{
    for (int i = 0; i < MESSAGES_MAX; i++)
        message_free(&messages.all[i]);
}
