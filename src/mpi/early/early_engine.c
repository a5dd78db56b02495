/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_engine.h"

#include <stdatomic.h>
#include <string.h>

#include "mpi/early.h"
#include "mpi/early/early_channels.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/busy.h"
#include "op/session.h"
#include "mpi/progress.h"
#include "mpi/status.h"
#include "mpi/early/early_messages.h"

void early_engine_pause(void)
{
    if (early.is_used)
        atomic_fetch_add_explicit(&early.pauses, 1, memory_order_relaxed);
}

/* Processes from outside MPI_COMM_WORLD may not know that their synchronous sends must be refused. */
static bool engine_may_take(void)
{
    return session_reason_to_begin() == REASON_NONE && !busy_is_shared() && !session_has_more_peers();
}

/* Its length, or 0 when it is not to be taken. */
static int channel_message_bytes(const MPI_Status *status)
{
    MPI_Count bytes = status_length_bytes(status);
    bool is_wanted = bytes >= (MPI_Count)early_messages_least_bytes() && bytes <= INT32_MAX;
    return is_wanted ? (int)bytes : 0;
}

/* What the source sent first, whatever its tag: a later message must not be taken before it. */
static bool channel_take(const struct early_channel *channel)
{
    int is_found = 0;
    MPI_Status status = {0};
    int result = real.MPI_Iprobe(channel->source, MPI_ANY_TAG, channel->comm, &is_found, &status);
    if (result != MPI_SUCCESS || !is_found)
        return false;
    int length_bytes = channel_message_bytes(&status);
    return length_bytes != 0 && early_message_add(channel, status.MPI_TAG, length_bytes);
}

/* Mostly nothing is there: then one look is enough for all channels of a communicator. */
static bool comm_is_quiet(MPI_Comm comm)
{
    int is_found = 0;
    int result = real.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &is_found, MPI_STATUS_IGNORE);
    return result != MPI_SUCCESS || !is_found;
}

static bool engine_is_paused(void)
{
    return atomic_load_explicit(&early.pauses, memory_order_relaxed) != 0 || !engine_may_take();
}

static void channels_take(void)
{
    MPI_Comm quiet = abi_handles.comm_null;
    for (uint32_t i = 0; i < early_channels_count(); i++) {
        const struct early_channel *channel = early_channels_at(i);
        if (channel->comm != quiet && comm_is_quiet(channel->comm))
            quiet = channel->comm;
        while (channel->comm != quiet && channel_take(channel)) {
        }
    }
}

void early_engine_poll(void)
{
    /* As in progress_poll(): the program has given MPI functions to call, or reaches it past us. Its waits look
     * themselves. */
    if (!early.is_used || session_reason() != REASON_NONE)
        return;
    early_messages_advance();
    if (!engine_is_paused())
        channels_take();
}

/* The engine stays awake from now on: it must see what comes while nothing is pending. */
static bool engine_begin(void)
{
    bool has_calls = real.MPI_Improbe != NULL && real.MPI_Imrecv != NULL;
    if (early.is_used || !has_calls || !session_has_engine() || !progress_prepare())
        return early.is_used;
    early.is_used = true;
    busy_raise();
    engine_assist_begin();
    return true;
}

/* The engine is gone, and with it what it assisted: calls go straight to MPI again. */
void early_engine_finish(void)
{
    if (!early.is_used)
        return;
    early_messages_drop();
    early.is_used = false;
    busy_lower();
}

void early_engine_unlearn(MPI_Comm comm)
{
    early_channels_leave(comm);
}

int early_engine_end_comm(MPI_Comm *comm, early_end_fn *end)
{
    MPI_Comm ended = abi_handles.comm_null;
    transfer_wait_due();
    dispatch_wait_argument(comm, sizeof *comm);
    dispatch_enter();
    if (comm != NULL)
        ended = *comm;
    int result = end(comm);
    if (result == MPI_SUCCESS) {
        early_channels_forget(ended);
        early_messages_forget_comm(ended);
    }
    return dispatch_leave(result);
}

static bool channel_is_own(const struct early_channel *channel)
{
    int own_rank = MPI_PROC_NULL;
    real.MPI_Comm_rank(channel->comm, &own_rank);
    return channel->source == own_rank;
}

static bool info_has(MPI_Info info, const char *key)
{
    char value[8] = "";
    int is_there = 0;
    real.MPI_Info_get(info, key, sizeof value - 1, value, &is_there);
    return is_there && strcmp(value, "true") == 0;
}

/* The program has promised MPI that nobody probes here as the engine would (MPI 4.1, 7.4.4). */
static bool comm_is_promised(MPI_Comm comm)
{
    MPI_Info info;
    if (real.MPI_Comm_get_info(comm, &info) != MPI_SUCCESS)
        return true;
    bool is_promised = info_has(info, "mpi_assert_no_any_source") || info_has(info, "mpi_assert_no_any_tag");
    real.MPI_Info_free(&info);
    return is_promised;
}

static bool receive_is_named(const struct message *receive)
{
    return receive->peer >= 0 && receive->is_measured && receive->bytes >= early_messages_least_bytes();
}

static void engine_learn(const struct message *receive)
{
    const struct early_channel channel = {receive->comm, receive->peer};
    if (!receive_is_named(receive) || !engine_may_take())
        return;
    if (early_channels_know(&channel) || early_channels_are_closed(channel.comm))
        return;
    dispatch_enter();
    if (comm_is_promised(channel.comm))
        early_channels_close(channel.comm);
    else if (!channel_is_own(&channel) && engine_begin())
        early_channels_add(&channel);
    gate_leave();
}

void early_engine_resume(const struct message *receive, int result)
{
    if (early.is_used)
        atomic_fetch_sub_explicit(&early.pauses, 1, memory_order_relaxed);
    if (result == MPI_SUCCESS)
        engine_learn(receive);
}
