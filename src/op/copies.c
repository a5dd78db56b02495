/* SPDX-License-Identifier: MIT */
#include "op/copies.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/room.h"
#include "engine/gate.h"
#include "op/host.h"
#include "protect/beside.h"
#include "protect/kernel.h"

enum { SPARES_MAX = 8, WASTE_FACTOR_MAX = 4, SMOOTHING = 8 };
enum { FIRST_PS_PER_BYTE = 250 }; /* 4 GB/s, until it has been measured */

/* Lies before the bytes of each copy; as large as the strictest alignment. */
struct block {
    size_t capacity_bytes;
    char pad[64 - sizeof(size_t)];
};

/* All but ps_per_byte: under the lock. ps_per_byte: whoever copies; a hint. */
static struct {
    struct gate_lock lock;
    size_t existing_bytes;
    struct block *spares[SPARES_MAX];
    _Atomic int64_t ps_per_byte;
} copies = {.ps_per_byte = FIRST_PS_PER_BYTE};

static bool block_fits(const struct block *block, size_t length_bytes)
{
    return block != NULL && block->capacity_bytes >= length_bytes &&
           block->capacity_bytes / WASTE_FACTOR_MAX <= length_bytes;
}

static struct block *spare_take(size_t length_bytes)
{
    for (int i = 0; i < SPARES_MAX; i++) {
        struct block *block = copies.spares[i];
        if (block_fits(block, length_bytes)) {
            copies.spares[i] = NULL;
            return block;
        }
    }
    return NULL;
}

static void block_free(struct block *block)
{
    copies.existing_bytes -= block->capacity_bytes;
    host.memory_give_back(block, sizeof *block + block->capacity_bytes);
}

/* Spares of other sizes make way for a block that is needed. */
static void spares_free_until(size_t needed_bytes)
{
    for (int i = 0; i < SPARES_MAX && copies.existing_bytes + needed_bytes > options.buffer_bytes; i++) {
        if (copies.spares[i] != NULL)
            block_free(copies.spares[i]);
        copies.spares[i] = NULL;
    }
}

static bool room_make(size_t length_bytes)
{
    spares_free_until(length_bytes);
    return copies.existing_bytes + length_bytes <= options.buffer_bytes;
}

static struct block *block_new(size_t length_bytes)
{
    if (!room_make(length_bytes))
        return NULL;
    struct block *block = host.memory_take(sizeof *block + length_bytes);
    if (block == NULL)
        return NULL;
    block->capacity_bytes = length_bytes;
    copies.existing_bytes += length_bytes;
    return block;
}

bool copies_reserve(size_t length_bytes)
{
    gate_lock_take(&copies.lock);
    bool is_room = room_make(length_bytes);
    copies.existing_bytes += is_room ? length_bytes : 0;
    gate_lock_release(&copies.lock);
    return is_room;
}

void copies_unreserve(size_t length_bytes)
{
    if (length_bytes == 0)
        return;
    gate_lock_take(&copies.lock);
    copies.existing_bytes -= length_bytes;
    gate_lock_release(&copies.lock);
}

/* Short copies tell what a call takes, not a byte. */
static void cost_learn(int64_t elapsed_ns, size_t length_bytes)
{
    enum { LEAST_BYTES = 16 << 10 };
    if (length_bytes < LEAST_BYTES)
        return;
    int64_t known = atomic_load_explicit(&copies.ps_per_byte, memory_order_relaxed);
    int64_t seen = elapsed_ns * 1000 / (int64_t)length_bytes;
    atomic_store_explicit(&copies.ps_per_byte, known + (seen - known) / SMOOTHING, memory_order_relaxed);
}

void *copies_room(size_t length_bytes)
{
    gate_lock_take(&copies.lock);
    struct block *block = spare_take(length_bytes);
    if (block == NULL)
        block = block_new(length_bytes);
    gate_lock_release(&copies.lock);
    return block == NULL ? NULL : block + 1;
}

/* Like kernel_copy(), of what the program can read for certain. */
static bool copy_plainly(void *copy, uintptr_t bytes, size_t length_bytes)
{
    memcpy(copy, (const void *)bytes, length_bytes);
    return true;
}

static void *copies_take_by(bool (*copy_bytes)(void *, uintptr_t, size_t), const void *bytes, size_t length_bytes)
{
    int64_t begin_ns = base_clock_now_ns();
    void *copy = copies_room(length_bytes);
    if (copy == NULL)
        return NULL;
    if (!copy_bytes(copy, (uintptr_t)bytes, length_bytes)) {
        copies_give_back(copy);
        return NULL;
    }
    cost_learn(base_clock_now_ns() - begin_ns, length_bytes);
    return copy;
}

void *copies_take(const void *bytes, size_t length_bytes)
{
    return copies_take_by(copy_plainly, bytes, length_bytes);
}

void *copies_take_readable(const void *bytes, size_t length_bytes)
{
    return copies_take_by(kernel_copy, bytes, length_bytes);
}

void *copies_take_beside(const void *bytes, size_t length_bytes)
{
    return copies_take_by(protect_beside_copy, bytes, length_bytes);
}

/* Where addresses are limited they are the program's as soon as they are not needed. */
static bool block_is_dear(const struct block *block)
{
    return block->capacity_bytes >= BASE_ROOM_LARGE_BYTES && base_room_is_limited();
}

static bool spare_keep(struct block *block)
{
    int i = block_is_dear(block) ? SPARES_MAX : 0;
    while (i < SPARES_MAX && copies.spares[i] != NULL)
        i++;
    if (i < SPARES_MAX)
        copies.spares[i] = block;
    return i < SPARES_MAX;
}

void copies_give_back(void *copy)
{
    if (copy == NULL)
        return;
    struct block *block = (struct block *)copy - 1;
    gate_lock_take(&copies.lock);
    if (!spare_keep(block))
        block_free(block);
    gate_lock_release(&copies.lock);
}

int64_t copies_cost_ns(size_t length_bytes)
{
    return (int64_t)length_bytes * atomic_load_explicit(&copies.ps_per_byte, memory_order_relaxed) / 1000;
}
