/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_staging.h"

#include <stdlib.h>

#include "engine/gate.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/datatypes.h"
#include "mpi/progress.h"
#include "mpi/real.h"

static char *memory_take(uint64_t length_bytes)
{
    char *memory = collective_alone_memory(length_bytes, "the data of a collective whose datatype has gaps");
    if (!progress_prepare())
        collective_alone_end("MPI gives no communicator to convert data");
    return memory;
}

/* One block after the other: bytes are counted in an int. */
static void elements_convert(char *memory, MPI_Count count, MPI_Datatype type, char *bytes, uint64_t length_bytes,
                             bool is_packed)
{
    struct progress_copied elements = {memory, (int)count, type};
    struct progress_copied packed = {bytes, (int)length_bytes, abi_handles.byte};
    int result = is_packed ? progress_copy(elements, packed) : progress_copy(packed, elements);
    if (result != MPI_SUCCESS)
        collective_alone_end("MPI cannot convert the data of a collective");
}

static void block_convert(const struct message *message, int blocks, int block, char *packed, uint64_t block_bytes,
                          bool is_packed)
{
    MPI_Count count = message->count / blocks;
    char *memory = (char *)message->buffer + block * count * datatype_layout(message->datatype)->extent_bytes;
    elements_convert(memory, count, message->datatype, packed + (uint64_t)block * block_bytes, block_bytes, is_packed);
}

/* A block of a list. */
static void part_convert(const struct collective_call *call, const struct collective_parts *parts, int block,
                         char *packed, bool is_packed)
{
    const struct block_lists_side *side = &call->received;
    MPI_Count place = argument_buffers_at(side->list.displacements, block);
    char *memory = (char *)call->receive.buffer + place * datatype_layout(side->type)->extent_bytes;
    MPI_Count count = argument_buffers_at(side->list.counts, block);
    if (count != 0)
        elements_convert(memory, count, side->type, packed + parts->all[block].place, parts->all[block].length,
                         is_packed);
}

static char *blocks_pack(const struct message *message, int blocks, uint64_t block_bytes)
{
    char *packed = memory_take(block_bytes * (uint64_t)blocks);
    for (int i = 0; i < blocks; i++)
        block_convert(message, blocks, i, packed, block_bytes, true);
    return packed;
}

/* In place what this rank gives is there already. */
static char *parts_prepare(const struct collective_call *call, const struct collective_parts *parts)
{
    char *packed = memory_take(call->block_bytes);
    if (call->given.send == MPI_IN_PLACE)
        part_convert(call, parts, parts->own, packed, true);
    return packed;
}

static char *receive_prepare(const struct collective_call *call, const struct collective_parts *parts)
{
    if (parts != NULL)
        return call->is_in_a_row ? parts_prepare(call, parts) : NULL;
    if (call->is_plain_receive)
        return NULL;
    /* In place some of it is sent. */
    return call->given.send == MPI_IN_PLACE
               ? blocks_pack(&call->receive, call->receive_blocks, call->receive_stride_bytes)
               : memory_take(call->receive_stride_bytes * (uint64_t)call->receive_blocks);
}

void collective_staging_begin(struct collective_staging *staging, const struct collective_call *call,
                              struct collective_work *work)
{
    if (collective_work_reduces(call->function) || call->is_given)
        return; /* MPI itself works on the program's types */
    if (!call->is_plain_send)
        staging->send = blocks_pack(&call->send, call->send_blocks, call->send_stride_bytes);
    staging->receive = receive_prepare(call, work->blocks);
    if (staging->receive != NULL)
        work->receive = staging->receive;
    if (staging->send != NULL && call->function == COLLECTIVE_BCAST)
        work->receive = staging->send;
    else if (staging->send != NULL)
        work->send = staging->send;
}

static void receive_finish(const struct collective_call *call, const struct collective_parts *parts, char *packed)
{
    if (parts == NULL) {
        for (int i = 0; i < call->receive_blocks; i++)
            block_convert(&call->receive, call->receive_blocks, i, packed, call->receive_stride_bytes, false);
        return;
    }
    for (int i = 0; i < parts->blocks; i++)
        part_convert(call, parts, i, packed, false);
}

void collective_staging_end(struct collective_staging *staging, const struct collective_call *call,
                            const struct collective_work *work, bool has_come)
{
    if (staging->receive != NULL && has_come)
        receive_finish(call, work->blocks, staging->receive);
    free(staging->send);
    free(staging->receive);
}
