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

/* By a message to itself: MPICH 4.0's MPI_Pack and MPI_Unpack stop in the middle of a struct of two types. On a
 * communicator of ours; the receive that waits there has another tag (mpi/progress.c). One block after the other: bytes
 * are counted in an int. */
static void block_convert(const struct message *message, int blocks, int block, char *packed, uint64_t block_bytes,
                          bool is_packed)
{
    enum { TAG = 1 };
    int count = (int)(message->count / blocks);
    int length = (int)block_bytes;
    MPI_Comm comm = progress_comm();
    MPI_Datatype type = message->datatype;
    MPI_Datatype byte = abi_handles.byte;
    char *memory = (char *)message->buffer + block * count * datatype_layout(type)->extent_bytes;
    char *bytes = packed + (uint64_t)block * block_bytes;
    int result =
        is_packed
            ? real.MPI_Sendrecv(memory, count, type, 0, TAG, bytes, length, byte, 0, TAG, comm, MPI_STATUS_IGNORE)
            : real.MPI_Sendrecv(bytes, length, byte, 0, TAG, memory, count, type, 0, TAG, comm, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS)
        collective_alone_end("MPI cannot convert the data of a collective");
}

static char *blocks_pack(const struct message *message, int blocks, uint64_t block_bytes)
{
    char *packed = memory_take(block_bytes * (uint64_t)blocks);
    for (int i = 0; i < blocks; i++)
        block_convert(message, blocks, i, packed, block_bytes, true);
    return packed;
}

void collective_staging_begin(struct collective_staging *staging, const struct collective_call *call,
                              struct collective_work *work)
{
    if (collective_work_reduces(call->function) || call->is_given)
        return; /* MPI itself works on the program's types */
    if (!call->is_plain_send)
        staging->send = blocks_pack(&call->send, call->send_blocks, call->send_stride_bytes);
    /* In place some of it is sent. */
    if (!call->is_plain_receive)
        staging->receive = call->given.send == MPI_IN_PLACE
                               ? blocks_pack(&call->receive, call->receive_blocks, call->receive_stride_bytes)
                               : memory_take(call->receive_stride_bytes * (uint64_t)call->receive_blocks);
    if (staging->receive != NULL)
        work->receive = staging->receive;
    if (staging->send != NULL && call->function == COLLECTIVE_BCAST)
        work->receive = staging->send;
    else if (staging->send != NULL)
        work->send = staging->send;
}

void collective_staging_end(struct collective_staging *staging, const struct collective_call *call, bool has_come)
{
    gate_enter();
    for (int i = 0; staging->receive != NULL && has_come && i < call->receive_blocks; i++)
        block_convert(&call->receive, call->receive_blocks, i, staging->receive, call->receive_stride_bytes, false);
    gate_leave();
    free(staging->send);
    free(staging->receive);
}
