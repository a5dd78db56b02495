/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_local.h"

#include <string.h>

#include "mpi/collective/collective_alone.h"
#include "mpi/datatypes.h"
#include "mpi/progress.h"
#include "mpi/real.h"
#include "op/copies.h"
#include "op/host.h"

/* Each rank gathers ranks - 1 times what it has, where the best way over many ranks moves less than twice that. Until
 * all is added up there is memory for what all ranks have. */
enum { LOCAL_RANKS_MOST = 3, LOCAL_BYTES_MOST = 64 << 20 };

/* For these MPI defines a sum (MPI 4.1, 6.9.2), so that MPI_Reduce_local raises no error: MPI_CHAR has none. */
static bool type_has_sums(MPI_Datatype datatype)
{
    bool is_char = datatype_layout(datatype)->size_bytes == 1;
    return (abi_datatype_is_integer(datatype) && !is_char) || abi_datatype_is_real(datatype);
}

bool collective_local_suits(MPI_Op op, MPI_Datatype datatype, uint64_t length_bytes, int ranks)
{
    return op == abi_handles.sum && ranks <= LOCAL_RANKS_MOST && length_bytes * (uint64_t)ranks <= LOCAL_BYTES_MOST &&
           type_has_sums(datatype);
}

static size_t gathered_bytes(const struct collective_local *part)
{
    return part->length_bytes * (size_t)part->ranks;
}

/* Not malloc's where there is no other room: libc learns from what is freed how to find memory for the program. */
static void gathered_take(struct collective_local *part)
{
    part->gathered = copies_room(gathered_bytes(part));
    part->is_copy = part->gathered != NULL;
    if (!part->is_copy)
        part->gathered = host.memory_take(gathered_bytes(part));
    if (part->gathered == NULL)
        collective_alone_end("no memory for what the ranks of a reduction have");
}

static void gathered_give_back(const struct collective_local *part)
{
    if (part->is_copy)
        copies_give_back(part->gathered);
    else
        host.memory_give_back(part->gathered, gathered_bytes(part));
}

int collective_local_start(struct collective_local *part, MPI_Comm comm, MPI_Request *request)
{
    MPI_Datatype byte = abi_handles.byte;
    int length = (int)part->length_bytes;
    gathered_take(part);
    return real.MPI_Iallgather(part->send, length, byte, part->gathered, length, byte, comm, request);
}

/* From the last rank to the first: MPI_Reduce_local puts what it is given before what is there (MPI 4.1, 6.9.7). */
static int part_add_up(const struct collective_local *part, char *sum)
{
    int result = MPI_SUCCESS;
    for (char *next = sum; result == MPI_SUCCESS && next != part->gathered;) {
        next -= part->length_bytes;
        result = real.MPI_Reduce_local(next, sum, part->count, part->datatype, abi_handles.sum);
    }
    return result;
}

static int part_deliver(const struct collective_local *part, char *sum)
{
    int length = (int)part->length_bytes;
    struct progress_copied from = {sum, length, abi_handles.byte};
    struct progress_copied to = {part->receive, length, abi_handles.byte};
    if (part->is_by_mpi)
        return progress_copy(from, to);
    memcpy(part->receive, sum, part->length_bytes);
    return MPI_SUCCESS;
}

int collective_local_end(struct collective_local *part, bool has_come)
{
    char *sum = part->gathered + (uint64_t)(part->ranks - 1) * part->length_bytes;
    if (!has_come)
        return MPI_SUCCESS;
    int result = part_add_up(part, sum);
    if (result == MPI_SUCCESS)
        result = part_deliver(part, sum);
    gathered_give_back(part);
    return result;
}
