/* SPDX-License-Identifier: MIT */
#include "libc/recycled.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/room.h"
#include "libc/chunk.h"
#include "libc/real.h"

/* A program has few buffers of one length that messages come to; the rest are its temporaries, for which libc knows
 * better. */
enum { LENGTHS_MAX = 16, KEPT_MAX = 4, KEPT_BYTES_MAX = 32 << 20 };

/* length_bytes: 0 free, else claimed for good by CAS. made: blocks that live or are kept, by any thread; a bound. kept:
 * blocks that nobody has; who exchanges one for NULL has it.
 */
struct recycled {
    _Atomic size_t length_bytes;
    _Atomic uint32_t made;
    _Atomic(void *) kept[KEPT_MAX];
};

static struct {
    struct recycled rows[LENGTHS_MAX];
    _Atomic uint32_t used;     /* rows below it may be claimed; any thread */
    _Atomic size_t kept_bytes; /* any thread; a bound, not a promise */
} recycled;

/* relaxed, also in the walk: a length that is not seen yet is served by libc. */
static struct recycled *recycled_find(size_t length_bytes)
{
    uint32_t used = atomic_load_explicit(&recycled.used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (atomic_load_explicit(&recycled.rows[i].length_bytes, memory_order_relaxed) == length_bytes)
            return &recycled.rows[i];
    return NULL;
}

void libc_recycled_wish(size_t length_bytes)
{
    if (length_bytes == 0 || length_bytes > KEPT_BYTES_MAX / KEPT_MAX || recycled_find(length_bytes) != NULL)
        return;
    uint32_t row = atomic_load_explicit(&recycled.used, memory_order_relaxed);
    size_t none = 0;
    if (row < LENGTHS_MAX && !base_room_is_limited() &&
        atomic_compare_exchange_strong_explicit(&recycled.rows[row].length_bytes, &none, length_bytes,
                                                memory_order_relaxed, memory_order_relaxed))
        atomic_store_explicit(&recycled.used, row + 1, memory_order_relaxed);
}

/* acquire: pairs with the release in kept_put(): what the last owner wrote is before what the next one writes. */
static void *kept_take(struct recycled *row)
{
    void *block = NULL;
    for (int i = 0; i < KEPT_MAX && block == NULL; i++)
        if (atomic_load_explicit(&row->kept[i], memory_order_relaxed) != NULL)
            block = atomic_exchange_explicit(&row->kept[i], NULL, memory_order_acquire);
    return block;
}

static bool kept_put(struct recycled *row, void *block)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&row->kept[i], &none, block, memory_order_release,
                                                    memory_order_relaxed))
            return true;
    }
    return false;
}

static size_t whole_pages(size_t length_bytes)
{
    return (length_bytes + base_page_bytes() - 1) & ~(base_page_bytes() - 1);
}

static void *block_make(struct recycled *row, size_t length_bytes)
{
    if (atomic_load_explicit(&row->made, memory_order_relaxed) >= KEPT_MAX)
        return NULL;
    void *block = LIBC_REAL(memalign)(base_page_bytes(), whole_pages(length_bytes));
    if (block != NULL)
        atomic_fetch_add_explicit(&row->made, 1, memory_order_relaxed);
    return block;
}

void *libc_recycled_take(size_t length_bytes)
{
    struct recycled *row = recycled_find(length_bytes);
    if (row == NULL)
        return NULL;
    void *block = kept_take(row);
    if (block == NULL)
        return block_make(row, length_bytes);
    atomic_fetch_sub_explicit(&recycled.kept_bytes, length_bytes, memory_order_relaxed);
    return block;
}

/* It may have come from elsewhere, or have been resized. */
static bool has_own_pages(const void *block, size_t length_bytes)
{
    struct range pages = base_pages_of(base_range_of(block, length_bytes));
    return pages.low == (uintptr_t)block && pages.high <= chunk_pages(block).high;
}

/* The row that the block was made for, as far as can be told. */
static struct recycled *recycled_of(const void *block, size_t length_bytes)
{
    struct recycled *row = length_bytes == 0 ? NULL : recycled_find(length_bytes);
    return row != NULL && has_own_pages(block, length_bytes) ? row : NULL;
}

static void made_lower(struct recycled *row)
{
    if (atomic_load_explicit(&row->made, memory_order_relaxed) != 0)
        atomic_fetch_sub_explicit(&row->made, 1, memory_order_relaxed);
}

void libc_recycled_leave(const void *block, size_t length_bytes)
{
    struct recycled *row = recycled_of(block, length_bytes);
    if (row != NULL)
        made_lower(row);
}

bool libc_recycled_give(void *block, size_t length_bytes)
{
    struct recycled *row = recycled_of(block, length_bytes);
    size_t kept_bytes = atomic_load_explicit(&recycled.kept_bytes, memory_order_relaxed);
    if (row == NULL)
        return false;
    bool is_kept = kept_bytes + length_bytes <= KEPT_BYTES_MAX && kept_put(row, block);
    if (is_kept)
        atomic_fetch_add_explicit(&recycled.kept_bytes, length_bytes, memory_order_relaxed);
    else
        made_lower(row);
    return is_kept;
}

static bool row_clear(struct recycled *row)
{
    size_t length_bytes = atomic_load_explicit(&row->length_bytes, memory_order_relaxed);
    bool was_any = false;
    for (void *block = kept_take(row); block != NULL; block = kept_take(row)) {
        atomic_fetch_sub_explicit(&recycled.kept_bytes, length_bytes, memory_order_relaxed);
        made_lower(row);
        LIBC_REAL(free)(block);
        was_any = true;
    }
    return was_any;
}

bool libc_recycled_clear(void)
{
    bool was_any = false;
    for (uint32_t i = 0; i < atomic_load_explicit(&recycled.used, memory_order_relaxed); i++)
        was_any |= row_clear(&recycled.rows[i]);
    return was_any;
}
