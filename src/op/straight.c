/* SPDX-License-Identifier: MIT */
#include "op/straight.h"

#include "base/options.h"
#include "record/record.h"

struct straight straight;
struct untracked untracked; /* untracked.h */

/* The first number of elements of which a message is not below the threshold. More than an int counts go no other way
 * than the long one. */
static uint64_t straight_below(uint64_t threshold_bytes, uint64_t size_bytes)
{
    const uint64_t most = (uint64_t)INT32_MAX + 1;
    if (threshold_bytes == 0 || size_bytes == 0)
        return threshold_bytes == 0 ? 0 : most;
    uint64_t below = (threshold_bytes - 1) / size_bytes + 1;
    return below < most ? below : most;
}

/* What may be held when the program no longer waits for it must be known (mpi/request/sent.h, freed.h). */
static uint64_t straight_begin_below(uint64_t size_bytes)
{
    uint64_t held_bytes = options.threshold_bytes, assisted_bytes = options.progress_threshold_bytes;
    return straight_below(held_bytes < assisted_bytes ? held_bytes : assisted_bytes, size_bytes);
}

static void straight_record_type(struct straight_type *type)
{
    if (type->calls != 0)
        record_passes(REASON_SMALL, type->calls, type->elements * type->size_bytes);
    type->calls = type->elements = 0;
}

static void straight_open(struct straight_type *type, uint64_t handle, uint64_t size_bytes)
{
    straight_record_type(type);
    type->handle = handle;
    type->size_bytes = size_bytes;
    type->pass_below = straight_below(options.threshold_bytes, size_bytes);
    type->begin_below = untracked_is_over() ? 0 : straight_begin_below(size_bytes);
    straight.is_open = true;
}

void straight_learn(uint64_t handle, uint64_t size_bytes)
{
    struct straight_type *type = straight_type_of(handle);
    bool is_known = type->handle == handle && type->pass_below != 0;
    if (!is_known && !straight.is_barred)
        straight_open(type, handle, size_bytes);
}

void straight_close(void)
{
    if (!straight.is_open)
        return;
    for (int i = 0; i < STRAIGHT_TYPES; i++)
        straight.types[i].pass_below = straight.types[i].begin_below = 0;
    straight.is_open = false;
}

void straight_bar(void)
{
    straight_close();
    straight.is_barred = true;
}

void straight_record(void)
{
    for (int i = 0; i < STRAIGHT_TYPES; i++)
        straight_record_type(&straight.types[i]);
}
