/* SPDX-License-Identifier: MIT */
#include "types.h"

#include <stdatomic.h>

#include "engine/gate.h"
#include "intercept/busy.h"
#include "intercept/real.h"

enum { CACHE_ENTRIES = 16 };

/* Each thread its own: no lock on the path of every message. */
static _Thread_local struct type_layout cache[CACHE_ENTRIES];
static _Atomic uint32_t cache_generation = 1;

void types_forget(void)
{
    atomic_fetch_add_explicit(&cache_generation, 1, memory_order_relaxed);
}

/* MPI may refuse (a handle that is no datatype): then the call is passed and
 * MPI says itself what is wrong. Errors here must not reach the program. */
static bool types_ask(struct type_layout *layout)
{
    MPI_Aint lower;
    int size_bytes;
    if (layout->datatype == abi_handles.datatype_null ||
        real.MPI_Type_size(layout->datatype, &size_bytes) != MPI_SUCCESS)
        return false;
    layout->size_bytes = size_bytes; /* MPI_UNDEFINED (negative) when it does not fit an int */
    if (real.MPI_Type_get_extent(layout->datatype, &lower, &layout->extent_bytes) != MPI_SUCCESS)
        return false;
    if (real.MPI_Type_get_true_extent(layout->datatype, &layout->true_lower_bytes, &layout->true_extent_bytes) !=
        MPI_SUCCESS)
        return false;
    layout->is_dense = layout->size_bytes == layout->extent_bytes && layout->size_bytes == layout->true_extent_bytes &&
                       lower == 0 && layout->true_lower_bytes == 0;
    return layout->size_bytes >= 0;
}

static void types_fill(struct type_layout *layout, MPI_Datatype datatype, uint32_t generation)
{
    bool must_gate = !dispatch_is_direct();
    *layout = (struct type_layout){.datatype = datatype, .generation = generation};
    if (must_gate)
        gate_enter();
    layout->is_known = types_ask(layout);
    if (must_gate)
        gate_leave();
}

static uint32_t types_slot(MPI_Datatype datatype)
{
    return (uint32_t)(((uint64_t)(uintptr_t)datatype * UINT64_C(0x9E3779B97F4A7C15)) >> 60);
}

const struct type_layout *types_layout(MPI_Datatype datatype)
{
    struct type_layout *layout = &cache[types_slot(datatype)];
    uint32_t generation = atomic_load_explicit(&cache_generation, memory_order_relaxed);
    if (layout->datatype != datatype || layout->generation != generation)
        types_fill(layout, datatype, generation);
    return layout;
}

struct range types_span(const struct type_layout *layout, const void *buffer, MPI_Count count)
{
    if (count <= 0 || layout->size_bytes == 0)
        return (struct range){0, 0};
    intptr_t last = (intptr_t)(count - 1) * layout->extent_bytes;
    intptr_t first = last < 0 ? last : 0;
    uintptr_t origin = (uintptr_t)buffer + (uintptr_t)layout->true_lower_bytes;
    uintptr_t end = origin + (uintptr_t)(last > 0 ? last : 0) + (uintptr_t)layout->true_extent_bytes;
    return (struct range){origin + (uintptr_t)first, end};
}
