/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_work.h"

#include "mpi/collective/collective_places.h"
#include "mpi/collective_listed.h"
#include "mpi/real.h"

/* No piece ends within a line of the processor's cache. */
enum { PIECE_ALIGNMENT = 64 };

/* How much one rank sends or receives in all. */
static uint64_t work_bytes(const struct collective_work *work)
{
    return collective_work_has_blocks(work->function) ? work->block_bytes * (uint64_t)work->size : work->block_bytes;
}

/* The blocks that MPI_Reduce_scatter_block reduces are apart, and a piece of each cannot be named: no predefined
 * reduction works on a type with gaps. */
void collective_work_cut(struct collective_work *work, bool is_whole, bool has_edges)
{
    bool is_apart = work->function == COLLECTIVE_REDUCE_SCATTER_BLOCK || work->is_given;
    uint64_t block_bytes = work->longest_bytes != 0 ? work->longest_bytes : work->block_bytes;
    work->cut = is_whole || is_apart ? collective_cut_make_whole(block_bytes, has_edges && !is_apart)
                                     : collective_cut_make(work_bytes(work), block_bytes, has_edges);
}

/* A whole block is a type without gaps. */
static bool work_has_gaps(const struct collective_work *work)
{
    bool has_blocks = work->function == COLLECTIVE_ALLGATHER || work->function == COLLECTIVE_ALLTOALL;
    return has_blocks && !work->is_given && work->cut.pieces > 1;
}

void collective_work_list_places(struct collective_work *work)
{
    if (abi_packs_gaps() && work_has_gaps(work) && collective_places_fit(work->size, work->block_bytes))
        work->places = collective_places_new(work->size, work->cut.pieces);
}

static MPI_Count work_end_count(const struct collective_work *work, uint32_t pieces)
{
    return (MPI_Count)collective_cut_end(&work->cut, (uint64_t)work->count, 1, pieces);
}

uint64_t collective_work_end(const struct collective_work *work, uint32_t pieces)
{
    if (pieces == work->cut.pieces)
        return work->block_bytes;
    if (collective_work_reduces(work->function))
        return (uint64_t)(work_end_count(work, pieces) * work->extent_bytes);
    return collective_cut_end(&work->cut, work->block_bytes, PIECE_ALIGNMENT, pieces);
}

static const void *at(const void *buffer, uint64_t offset_bytes)
{
    return buffer == MPI_IN_PLACE ? buffer : (const char *)buffer + offset_bytes;
}

/* So many bytes of each block, for whoever has one for each rank. */
static int type_make(uint64_t length_bytes, uint64_t block_bytes, MPI_Datatype *type)
{
    MPI_Datatype bytes;
    int result = real.MPI_Type_contiguous((int)length_bytes, abi_handles.byte, &bytes);
    if (result == MPI_SUCCESS)
        result = real.MPI_Type_create_resized(bytes, 0, (MPI_Aint)block_bytes, type);
    if (result == MPI_SUCCESS)
        real.MPI_Type_free(&bytes);
    return result == MPI_SUCCESS ? real.MPI_Type_commit(type) : result;
}

/* The parts of the blocks that are sent and received; NULL for bytes in a row. */
struct parts {
    MPI_Datatype send;
    MPI_Datatype receive;
};

static int start_bytes(struct collective_work *work, uint64_t low, int length, const struct parts *parts,
                       MPI_Request *request)
{
    MPI_Datatype byte = abi_handles.byte;
    const void *send = at(work->send, low);
    void *receive = (void *)at(work->receive, low);
    switch (work->function) {
    case COLLECTIVE_BCAST:
        return real.MPI_Ibcast(receive, length, byte, work->root, work->comm, request);
    case COLLECTIVE_GATHER:
        return real.MPI_Igather(send, length, byte, receive, 1, parts->receive, work->root, work->comm, request);
    case COLLECTIVE_SCATTER:
        return real.MPI_Iscatter(send, 1, parts->send, receive, length, byte, work->root, work->comm, request);
    case COLLECTIVE_ALLGATHER:
        return real.MPI_Iallgather(send, length, byte, receive, 1, parts->receive, work->comm, request);
    default:
        return real.MPI_Ialltoall(send, 1, parts->send, receive, 1, parts->receive, work->comm, request);
    }
}

/* MPI keeps the types for as long as it needs them (MPI 4.1, 5.1.9). */
static int start_moving(struct collective_work *work, uint64_t low, uint64_t high, MPI_Request *request)
{
    struct parts parts;
    uint64_t length_bytes = high - low;
    if (work->function == COLLECTIVE_BCAST)
        return start_bytes(work, low, (int)length_bytes, NULL, request);
    int result = type_make(length_bytes, work->send_stride_bytes, &parts.send);
    if (result != MPI_SUCCESS)
        return result;
    result = type_make(length_bytes, work->receive_stride_bytes, &parts.receive);
    if (result == MPI_SUCCESS) {
        result = start_bytes(work, low, (int)length_bytes, &parts, request);
        real.MPI_Type_free(&parts.receive);
    }
    real.MPI_Type_free(&parts.send);
    return result;
}

/* As start_moving(), without types that have gaps. */
static int start_listed(struct collective_work *work, uint64_t low, uint64_t high, uint32_t piece, MPI_Request *request)
{
    MPI_Datatype byte = abi_handles.byte;
    const void *send = at(work->send, low);
    void *receive = (void *)at(work->receive, low);
    struct collective_places_part part = {COLLECTIVE_PLACES_RECEIVED, work->receive_stride_bytes, high - low};
    struct collective_places_side in = collective_places_list(work->places, work->size, piece, part);
    if (work->function == COLLECTIVE_ALLGATHER)
        return real.MPI_Iallgatherv(send, (int)(high - low), byte, receive, in.counts, in.displacements, byte,
                                    work->comm, request);
    part = (struct collective_places_part){COLLECTIVE_PLACES_SENT, work->send_stride_bytes, high - low};
    struct collective_places_side out = collective_places_list(work->places, work->size, piece, part);
    return real.MPI_Ialltoallv(send, out.counts, out.displacements, byte, receive, in.counts, in.displacements, byte,
                               work->comm, request);
}

static uint64_t less_of(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* A rank that has more for the others than they were told is wrong, and hears it; no rank waits for what is not sent.
 */
static int start_parts(struct collective_work *work, uint32_t number, MPI_Request *request)
{
    MPI_Datatype byte = abi_handles.byte;
    struct collective_parts_piece piece = collective_parts_list(work->blocks, &work->cut, number);
    uint64_t low = less_of(piece.own_low, work->send_stride_bytes);
    uint64_t high = less_of(piece.own_high, work->send_stride_bytes);
    int result = real.MPI_Iallgatherv(at(work->send, low), (int)(high - low), byte, work->receive, piece.counts,
                                      piece.displacements, byte, work->comm, request);
    bool is_too_much = number == 0 && work->send_stride_bytes > work->blocks->all[work->blocks->own].length;
    return result == MPI_SUCCESS && is_too_much ? MPI_ERR_TRUNCATE : result;
}

static int start_reducing(struct collective_work *work, const void *send, void *receive, int count,
                          MPI_Request *request)
{
    MPI_Datatype type = work->datatype;
    switch (work->function) {
    case COLLECTIVE_REDUCE:
        return real.MPI_Ireduce(send, receive, count, type, work->op, work->root, work->comm, request);
    case COLLECTIVE_ALLREDUCE:
        return real.MPI_Iallreduce(send, receive, count, type, work->op, work->comm, request);
    case COLLECTIVE_SCAN:
        return real.MPI_Iscan(send, receive, count, type, work->op, work->comm, request);
    case COLLECTIVE_EXSCAN:
        return real.MPI_Iexscan(send, receive, count, type, work->op, work->comm, request);
    default:
        return real.MPI_Ireduce_scatter_block(send, receive, count, type, work->op, work->comm, request);
    }
}

static int start_local(struct collective_work *work, uint64_t low, uint64_t high, int count, MPI_Request *request)
{
    struct collective_local *part = &work->sums[request - work->requests];
    *part = (struct collective_local){
        .send = at(work->send == MPI_IN_PLACE ? work->receive : work->send, low),
        .receive = (char *)work->receive + low,
        .ranks = work->size,
        .count = count,
        .datatype = work->datatype,
        .length_bytes = high - low,
        .is_by_mpi = work->is_by_mpi,
    };
    return collective_local_start(part, work->comm, request);
}

int collective_work_start(struct collective_work *work)
{
    uint32_t piece = collective_cut_piece(&work->cut, work->started);
    uint64_t low = collective_work_end(work, piece);
    uint64_t high = collective_work_end(work, piece + 1);
    MPI_Request *request = &work->requests[work->started];
    int count = (int)(work_end_count(work, piece + 1) - work_end_count(work, piece));
    *request = abi_handles.request_null;
    work->started++;
    if (work->is_given)
        return collective_listed_run(work, request); /* the lists must stay until it is over (MPI 4.1, 6.12) */
    if (work->blocks != NULL)
        return start_parts(work, piece, request);
    if (work->places != NULL)
        return start_listed(work, low, high, piece, request);
    if (work->is_local)
        return start_local(work, low, high, count, request);
    if (!collective_work_reduces(work->function))
        return start_moving(work, low, high, request);
    return start_reducing(work, at(work->send, low), (void *)at(work->receive, low), count, request);
}

int collective_work_end_piece(struct collective_work *work, bool has_come)
{
    uint32_t order = work->ended++;
    return work->is_local ? collective_local_end(&work->sums[order], has_come) : MPI_SUCCESS;
}
