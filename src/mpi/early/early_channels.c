/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_channels.h"

/* Beyond CLOSED_MAX every communicator counts as closed, for good. */
enum { CLOSED_MAX = 64 };

/* next: whose place a channel beyond EARLY_CHANNELS_MAX takes. */
static struct {
    uint32_t count;
    uint32_t next;
    struct early_channel known[EARLY_CHANNELS_MAX];
    uint32_t closed_count;
    MPI_Comm closed[CLOSED_MAX];
    bool are_all_closed;
} channels;

uint32_t early_channels_count(void)
{
    return channels.count;
}

const struct early_channel *early_channels_at(uint32_t index)
{
    return &channels.known[index];
}

static bool channel_is(const struct early_channel *a, const struct early_channel *b)
{
    return a->comm == b->comm && a->source == b->source;
}

bool early_channels_know(const struct early_channel *channel)
{
    for (uint32_t i = 0; i < channels.count; i++) {
        if (channel_is(&channels.known[i], channel))
            return true;
    }
    return false;
}

static uint32_t closed_index(MPI_Comm comm)
{
    uint32_t index = 0;
    while (index < channels.closed_count && channels.closed[index] != comm)
        index++;
    return index;
}

bool early_channels_are_closed(MPI_Comm comm)
{
    return channels.are_all_closed || closed_index(comm) < channels.closed_count;
}

void early_channels_add(const struct early_channel *channel)
{
    if (early_channels_are_closed(channel->comm) || early_channels_know(channel))
        return;
    if (channels.count < EARLY_CHANNELS_MAX)
        channels.known[channels.count++] = *channel;
    else
        channels.known[channels.next++ % EARLY_CHANNELS_MAX] = *channel;
}

void early_channels_leave(MPI_Comm comm)
{
    for (uint32_t i = channels.count; i > 0; i--) {
        if (channels.known[i - 1].comm == comm)
            channels.known[i - 1] = channels.known[--channels.count];
    }
}

void early_channels_close(MPI_Comm comm)
{
    early_channels_leave(comm);
    if (early_channels_are_closed(comm))
        return;
    if (channels.closed_count == CLOSED_MAX)
        channels.are_all_closed = true;
    else
        channels.closed[channels.closed_count++] = comm;
}

void early_channels_forget(MPI_Comm comm)
{
    uint32_t index = closed_index(comm);
    early_channels_leave(comm);
    if (index < channels.closed_count)
        channels.closed[index] = channels.closed[--channels.closed_count];
}
