/* SPDX-License-Identifier: MIT */
#include "mpi/datatypes.h"

#include "engine/gate.h"
#include "mpi/gaps.h"
#include "op/busy.h"
#include "mpi/real.h"

struct datatypes datatypes = {.generation = 1};

void datatype_forget(void)
{
    straight_close();
    atomic_fetch_add_explicit(&datatypes.generation, 1, memory_order_relaxed);
}

/* `size_bytes` is MPI_UNDEFINED (negative) when the size does not fit an int. */
static int64_t types_size(MPI_Datatype datatype, int size_bytes)
{
    MPI_Count large_bytes = size_bytes;
    if (size_bytes < 0 && real.MPI_Type_size_x != NULL)
        real.MPI_Type_size_x(datatype, &large_bytes);
    return large_bytes;
}

/* A handle that is no datatype: the call is passed, and MPI says itself what is wrong, on the communicator of that
 * call. These questions would have it said on MPI_COMM_WORLD or MPI_COMM_SELF. */
static bool types_ask(struct type_layout *layout, MPI_Datatype datatype)
{
    MPI_Aint lower;
    MPI_Aint extent;
    MPI_Aint true_lower;
    MPI_Aint true_extent;
    int size_bytes;
    if (datatype == abi_handles.datatype_null || !abi_may_be_datatype(datatype) ||
        real.MPI_Type_size(datatype, &size_bytes) != MPI_SUCCESS)
        return false;
    if (real.MPI_Type_get_extent(datatype, &lower, &extent) != MPI_SUCCESS ||
        real.MPI_Type_get_true_extent(datatype, &true_lower, &true_extent) != MPI_SUCCESS)
        return false;
    layout->size_bytes = types_size(datatype, size_bytes);
    layout->extent_bytes = extent;
    layout->true_lower_bytes = true_lower;
    layout->true_extent_bytes = true_extent;
    return layout->size_bytes >= 0;
}

static void datatype_fill(struct type_layout *layout, MPI_Datatype datatype, uint32_t generation)
{
    bool must_gate = !busy_is_clear();
    *layout = (struct type_layout){.handle = (uint64_t)(uintptr_t)datatype, .generation = generation};
    if (must_gate)
        gate_enter();
    layout->is_known = types_ask(layout, datatype);
    if (must_gate)
        gate_leave();
}

const struct type_layout *datatype_layout(MPI_Datatype datatype)
{
    struct type_layout *layout = datatype_entry(datatype);
    if (!datatype_is_cached(layout, datatype))
        datatype_fill(layout, datatype, atomic_load_explicit(&datatypes.generation, memory_order_relaxed));
    return layout;
}

void datatype_learn_small(const struct type_layout *layout)
{
    if (busy_is_clear() && layout->is_known)
        straight_learn(layout->handle, (uint64_t)layout->size_bytes);
}

static enum datatype_gaps datatype_judge_gaps(MPI_Datatype datatype)
{
    bool must_gate = !busy_is_clear();
    if (must_gate)
        gate_enter();
    bool is_array = gaps_are_of_an_array(datatype);
    if (must_gate)
        gate_leave();
    return is_array ? DATATYPE_GAPS_OWN : DATATYPE_GAPS_FOREIGN;
}

bool datatype_gaps_are_own(MPI_Datatype datatype)
{
    datatype_layout(datatype);
    struct type_layout *layout = datatype_entry(datatype);
    if (layout->gaps == DATATYPE_GAPS_UNASKED)
        layout->gaps = (uint8_t)datatype_judge_gaps(datatype);
    return layout->gaps == DATATYPE_GAPS_OWN;
}

bool datatype_has_gaps(const struct type_layout *layout, MPI_Count count)
{
    bool is_one = count == 1 || layout->extent_bytes == layout->size_bytes;
    return !is_one || layout->size_bytes != layout->true_extent_bytes;
}

uint64_t datatype_bytes(const struct type_layout *layout, MPI_Count count)
{
    uint64_t bytes;
    if (!layout->is_known || count <= 0)
        return 0;
    bool is_huge = __builtin_mul_overflow((uint64_t)layout->size_bytes, (uint64_t)count, &bytes);
    return is_huge ? UINT64_MAX : bytes;
}

struct range datatype_span(const struct type_layout *layout, const void *buffer, MPI_Count count)
{
    if (count <= 0 || layout->size_bytes == 0)
        return (struct range){0, 0};
    intptr_t last = (intptr_t)(count - 1) * layout->extent_bytes;
    intptr_t first = last < 0 ? last : 0;
    uintptr_t origin = (uintptr_t)buffer + (uintptr_t)layout->true_lower_bytes;
    uintptr_t end = origin + (uintptr_t)(last > 0 ? last : 0) + (uintptr_t)layout->true_extent_bytes;
    return (struct range){origin + (uintptr_t)first, end};
}
