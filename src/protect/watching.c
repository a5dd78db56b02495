/* SPDX-License-Identifier: MIT */
#include "protect/watch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protect/armed.h"
#include "protect/kernel.h"
#include "protect/watches.h"

int watch_take(void)
{
    for (int i = 0; i < WATCHES_MAX; i++) {
        uint32_t unused = WATCH_FREE;
        /* acquire: pairs with watch_free(), whose slot we write into. */
        if (atomic_compare_exchange_strong_explicit(&watches.slots[i].state, &unused, WATCH_TAKEN, memory_order_acquire,
                                                    memory_order_relaxed))
            return i;
    }
    return WATCH_NONE;
}

static bool part_close(const struct watch_part *part)
{
    return kernel_mprotect(part->pages, part->forbids_reads ? PROT_NONE : PROT_READ);
}

static bool slot_close(const struct watch_slot *slot)
{
    for (int i = 0; i < slot->part_count; i++)
        if (!part_close(&slot->parts[i]))
            return false;
    return true;
}

static void slot_fill(struct watch_slot *slot, const struct watch_part parts[], int count)
{
    slot->part_count = count;
    for (int i = 0; i < count; i++)
        slot->parts[i] = parts[i];
    /* So that MPI's and libc's entries look before they enter the kernel. */
    atomic_fetch_add_explicit(&protect_armed_count, 1, memory_order_relaxed);
    /* release: who finds the watch armed finds its parts. */
    atomic_store_explicit(&slot->state, WATCH_ARMED, memory_order_release);
}

bool watch_arm(int watch, const struct watch_part parts[], int count)
{
    struct watch_slot *slot = &watches.slots[watch];
    bool is_touched;
    int saved_errno = errno;
    slot_fill(slot, parts, count);
    bool is_closed = slot_close(slot);
    /* Another thread's touch may have come between two parts: the second was closed after it. */
    if (is_closed && atomic_load_explicit(&slot->state, memory_order_acquire) != WATCH_ARMED)
        watch_open(slot);
    if (!is_closed && watch_claim(watch, &is_touched))
        watch_free(watch);
    errno = saved_errno;
    return is_closed;
}

bool watch_is_any_touched(void)
{
    /* relaxed: a touch that is not seen yet is seen by the next call. */
    return atomic_load_explicit(&watches.touched_count, memory_order_relaxed) != 0;
}

/* acquire: what was noted of it before watch_arm() is seen. */
bool watch_is_armed(int watch)
{
    return atomic_load_explicit(&watches.slots[watch].state, memory_order_acquire) == WATCH_ARMED;
}

bool watch_is_touched(int watch)
{
    return atomic_load_explicit(&watches.slots[watch].state, memory_order_relaxed) == WATCH_TOUCHED;
}

static bool slot_claim_from(struct watch_slot *slot, uint32_t state, uint32_t next)
{
    /* acquire: what the toucher reported is seen. */
    return atomic_compare_exchange_strong_explicit(&slot->state, &state, next, memory_order_acquire,
                                                   memory_order_relaxed);
}

bool watch_claim(int watch, bool *is_touched)
{
    struct watch_slot *slot = &watches.slots[watch];
    *is_touched = slot_claim_from(slot, WATCH_TOUCHED, WATCH_CLAIMED);
    if (*is_touched) {
        atomic_fetch_sub_explicit(&watches.touched_count, 1, memory_order_relaxed);
        return true;
    }
    if (!slot_claim_from(slot, WATCH_ARMED, WATCH_OPENING))
        return false;
    int saved_errno = errno;
    watch_open(slot);
    errno = saved_errno;
    /* release: who sees it claimed finds it open. */
    atomic_store_explicit(&slot->state, WATCH_CLAIMED, memory_order_release);
    return true;
}

static void slot_leave(struct watch_slot *slot, uint32_t state)
{
    atomic_fetch_sub_explicit(&protect_armed_count, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->state, state, memory_order_release);
}

void watch_free(int watch)
{
    slot_leave(&watches.slots[watch], WATCH_FREE);
}

void watch_take_again(int watch)
{
    slot_leave(&watches.slots[watch], WATCH_TAKEN);
}

static bool part_minds(const struct watch_part *part, struct range bytes, bool is_read)
{
    return (part->forbids_reads || !is_read) && base_ranges_overlap(part->pages, bytes);
}

static bool parts_mind(const struct watch_slot *slot, struct range bytes, bool is_read)
{
    for (int i = 0; i < slot->part_count; i++)
        if (part_minds(&slot->parts[i], bytes, is_read))
            return true;
    return false;
}

static bool slot_minds(const struct watch_slot *slot, struct range bytes, bool is_read)
{
    return atomic_load_explicit(&slot->state, memory_order_acquire) == WATCH_ARMED && parts_mind(slot, bytes, is_read);
}

/* acquire: who finds it open sees that. */
static bool slot_is_opening(const struct watch_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state == WATCH_TOUCHING || state == WATCH_OPENING;
}

/* Whoever opens it has no more to do than that. It may be this thread, in whose handler another signal has come: then
 * no waiting helps. */
static void slot_await_opening(const struct watch_slot *slot)
{
    enum { YIELDS_MOST = 1000 };
    for (int i = 0; i < YIELDS_MOST; i++) {
        if (!slot_is_opening(slot))
            return;
        syscall(SYS_sched_yield);
    }
    watch_open(slot);
}

void watch_await_opening(struct range bytes, bool is_read)
{
    int saved_errno = errno;
    for (int i = 0; i < WATCHES_MAX; i++)
        if (slot_is_opening(&watches.slots[i]) && parts_mind(&watches.slots[i], bytes, is_read))
            slot_await_opening(&watches.slots[i]);
    errno = saved_errno;
}

int watch_find(int from, struct range bytes, bool is_read)
{
    for (int i = from; i < WATCHES_MAX; i++)
        if (slot_minds(&watches.slots[i], bytes, is_read))
            return i;
    return WATCH_NONE;
}

void watch_forked_child(void)
{
    for (int i = 0; i < WATCHES_MAX; i++) {
        /* acquire: another thread of the parent's may have armed it while this one forked. */
        if (atomic_load_explicit(&watches.slots[i].state, memory_order_acquire) >= WATCH_ARMED)
            watch_open(&watches.slots[i]);
        atomic_store_explicit(&watches.slots[i].state, WATCH_FREE, memory_order_relaxed);
    }
    atomic_store_explicit(&watches.touched_count, 0, memory_order_relaxed);
}
