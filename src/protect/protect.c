/* SPDX-License-Identifier: MIT */
/* The order of steps that makes a hold, and the table of holds. */
#include "protect/protect.h"

#include <errno.h>

#include "base/futex.h"
#include "base/lock.h"
#include "protect/backend.h"
#include "protect/fault.h"
#include "protect/hold.h"
#include "protect/kernel.h"
#include "protect/memory.h"
#include "protect/probe.h"
#include "protect/transit.h"

_Atomic uint32_t protect_armed_count;

static const struct backend *backend; /* NULL: none; written by start, stop and after fork */
static _Atomic bool has_several_threads = true;

/* Arm and release, one at a time. All signals are blocked meanwhile: a handler
 * of the program that touched a hold would wait for a release that waits here. */
static struct base_lock table_lock;

static uint64_t table_enter(void)
{
    uint64_t mask = kernel_signals_block();
    base_lock_take(&table_lock);
    return mask;
}

static void table_leave(uint64_t mask)
{
    base_lock_release(&table_lock);
    kernel_signals_restore(mask);
}

/* --- the table; under the lock --- */

static struct hold *slot_find_free(void)
{
    for (uint32_t i = 0; i < PROTECT_HOLDS_MAX; i++)
        if (atomic_load_explicit(&hold_table[i].word, memory_order_relaxed) % 2 == 0)
            return &hold_table[i];
    return NULL;
}

static uint32_t slot_index(const struct hold *hold)
{
    return (uint32_t)(hold - hold_table);
}

static uintptr_t lower_of(uintptr_t a, uintptr_t b)
{
    return a < b ? a : b;
}

static uintptr_t higher_of(uintptr_t a, uintptr_t b)
{
    return a > b ? a : b;
}

static void bounds_widen(struct range pages)
{
    /* relaxed: only the lock's owner writes; readers see them by the word or a bit later */
    uintptr_t low = atomic_load_explicit(&hold_bound_low, memory_order_relaxed);
    uintptr_t high = atomic_load_explicit(&hold_bound_high, memory_order_relaxed);
    atomic_store_explicit(&hold_bound_low, lower_of(low, pages.low), memory_order_relaxed);
    atomic_store_explicit(&hold_bound_high, higher_of(high, pages.high), memory_order_relaxed);
}

static void slot_fill(struct hold *hold, enum hold_kind kind, struct range bytes, uint64_t op_id)
{
    struct range pages = base_pages_of(bytes);
    hold->address = bytes.low;
    /* release: see the order in hold.h */
    atomic_store_explicit(&hold->low, pages.low, memory_order_release);
    atomic_store_explicit(&hold->high, pages.high, memory_order_release);
    atomic_store_explicit(&hold->op_id, op_id, memory_order_release);
    atomic_store_explicit(&hold->kind, kind, memory_order_release);
    atomic_store_explicit(&hold->is_touched, 0, memory_order_release);
}

/* From here on a touch is known for one, so this comes before the first guard. */
static void slot_publish(struct hold *hold, struct range pages)
{
    bounds_widen(pages);
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_release);
    if (used <= slot_index(hold))
        atomic_store_explicit(&hold_table_used, slot_index(hold) + 1, memory_order_release);
    atomic_fetch_add_explicit(&protect_armed_count, 1, memory_order_release);
}

static void table_shrink(void)
{
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    while (used > 0 && atomic_load_explicit(&hold_table[used - 1].word, memory_order_relaxed) % 2 == 0)
        used--;
    atomic_store_explicit(&hold_table_used, used, memory_order_relaxed);
    if (used > 0)
        return;
    atomic_store_explicit(&hold_bound_low, UINTPTR_MAX, memory_order_relaxed);
    atomic_store_explicit(&hold_bound_high, 0, memory_order_relaxed);
}

/* The pages are back: first the count for a fault that is on its way to the
 * handler, then the word for those that sleep. */
static void slot_retire(struct hold *hold)
{
    atomic_fetch_add_explicit(&hold_release_count, 1, memory_order_release);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_release);
    atomic_fetch_sub_explicit(&protect_armed_count, 1, memory_order_release);
    table_shrink();
    base_futex_wake(&hold->word, INT32_MAX);
}

/* --- receiving: no access --- */

/* A buffer's pages as they move: the edge pages that it shares with neighbours, and the rest. */
struct pieces {
    struct range low_edge;
    struct range middle;
    struct range high_edge;
};

/* Other threads may use the neighbours at any moment, and must not meet the
 * empty page of the gap between moving and guarding. Pages that are the
 * buffer's alone need no such care: nobody may touch them during a receive. */
static struct pieces pieces_of(struct range bytes, struct range pages)
{
    size_t page_bytes = base_page_bytes();
    struct pieces pieces = {{pages.low, pages.low}, pages, {pages.high, pages.high}};
    if (!atomic_load_explicit(&has_several_threads, memory_order_relaxed))
        return pieces;
    if (bytes.low != pages.low)
        pieces.low_edge.high = pieces.middle.low = pages.low + page_bytes;
    if (bytes.high != pages.high && pieces.middle.low < pages.high)
        pieces.high_edge.low = pieces.middle.high = pages.high - page_bytes;
    return pieces;
}

static bool is_empty(struct range pages)
{
    return pages.low >= pages.high;
}

/* Guarded first. (Not the whole range: mremap of registered memory goes page by
 * page, 180 us for 64 MiB where whole page tables take 40.) */
static bool edge_take_out(struct range edge)
{
    if (is_empty(edge))
        return true;
    return backend->access_close(edge) && transit_move_out(edge) && backend->transit_settle(transit_range(edge));
}

static bool middle_take_out(struct range middle)
{
    return is_empty(middle) || transit_move_out(middle);
}

/* mincore fails where nothing is mapped. */
static bool is_mapped(struct range pages)
{
    unsigned char residence;
    return syscall(SYS_mincore, pages.low, base_page_bytes(), &residence) == 0;
}

static void piece_bring_back(struct range piece)
{
    if (!is_empty(piece) && is_mapped(transit_range(piece)))
        transit_move_home(piece);
}

/* --- sending: no write --- */

/* Where the next armed no-write hold other than `self` ends that covers `page`; 0 without one. */
static uintptr_t covered_until(const struct hold *self, uintptr_t page)
{
    struct hold_view view;
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (&hold_table[i] != self && hold_view_take(&hold_table[i], &view) && view.pages.low <= page &&
            page < view.pages.high)
            return view.pages.high;
    return 0;
}

/* Where the next armed hold other than `self` begins after `page`, at most `limit`. */
static uintptr_t uncovered_until(const struct hold *self, uintptr_t page, uintptr_t limit)
{
    struct hold_view view;
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (&hold_table[i] != self && hold_view_take(&hold_table[i], &view) && view.pages.low > page)
            limit = lower_of(limit, view.pages.low);
    return limit;
}

/* Lets writers in again wherever no other send still needs the bytes. */
static void write_open_uncovered(const struct hold *self, struct range pages)
{
    uintptr_t page = pages.low;
    while (page < pages.high) {
        uintptr_t covered = covered_until(self, page);
        uintptr_t next = covered != 0 ? covered : uncovered_until(self, page, pages.high);
        if (covered == 0)
            backend->write_open((struct range){page, next});
        page = next;
    }
}

/* --- both kinds; under the lock --- */

/* A mapping without any page takes its place in the kernel's order of pages from
 * its first one. If that came in transit, the mapping would not merge with its
 * neighbours at home again, and every hold would leave a seam. So one page
 * exists before. The byte belongs to MPI by now, and keeps its value. */
__attribute__((no_sanitize("address", "thread"))) static void page_make_present(uintptr_t address)
{
    if (protect_find_op((struct range){address, address + 1}, false) != 0)
        return; /* another send holds it: it has pages already */
    unsigned char *byte = (unsigned char *)address;
    unsigned char value = __atomic_load_n(byte, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool pages_take_out(struct range bytes, struct range pages)
{
    struct pieces pieces = pieces_of(bytes, pages);
    if (edge_take_out(pieces.low_edge) && edge_take_out(pieces.high_edge) && middle_take_out(pieces.middle) &&
        backend->access_close(pages))
        return true;
    piece_bring_back(pieces.low_edge);
    piece_bring_back(pieces.high_edge);
    piece_bring_back(pieces.middle);
    backend->access_open(pages);
    return false;
}

static bool pages_close(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages)
{
    if (kind == HOLD_NO_ACCESS)
        return pages_take_out(bytes, pages);
    if (backend->write_close(pages))
        return true;
    write_open_uncovered(hold, pages);
    return false;
}

static void pages_open(struct hold *hold, enum hold_kind kind, struct range pages)
{
    if (kind == HOLD_NO_WRITE) {
        write_open_uncovered(hold, pages);
        return;
    }
    transit_move_home(pages);
    backend->wake(pages);
}

static enum reason arm_locked(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **armed)
{
    struct range pages = base_pages_of(bytes);
    struct hold *hold = slot_find_free();
    if (hold == NULL)
        return REASON_TOO_MANY_OPS;
    page_make_present(bytes.low);
    slot_fill(hold, kind, bytes, op_id);
    slot_publish(hold, pages);
    *armed = hold;
    if (pages_close(hold, kind, bytes, pages))
        return REASON_NONE;
    slot_retire(hold);
    *armed = NULL;
    return REASON_MEMORY_FAILED;
}

enum reason protect_hold_arm(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **hold)
{
    if (backend == NULL || is_empty(bytes))
        return REASON_MEMORY_FAILED;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    enum reason reason = arm_locked(kind, bytes, op_id, hold);
    table_leave(mask);
    errno = saved_errno;
    return reason;
}

void protect_hold_release(struct hold *hold)
{
    struct hold_view view;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    if (hold_view_take(hold, &view)) {
        backend->events_read(); /* a touch that the release wakes would never be read */
        pages_open(hold, view.kind, view.pages);
        slot_retire(hold);
    }
    table_leave(mask);
    errno = saved_errno;
}

void *protect_hold_transfer_address(const struct hold *hold)
{
    bool is_moved = atomic_load_explicit(&hold->kind, memory_order_relaxed) == HOLD_NO_ACCESS;
    return (void *)(is_moved ? transit_address(hold->address) : hold->address);
}

/* --- start and end --- */

static bool choice_allows(enum option_hold choice, const struct backend *candidate)
{
    switch (choice) {
    case OPTION_HOLD_USERFAULTFD:
        return candidate == &backend_userfault;
    case OPTION_HOLD_USERFAULTFD_USER:
        return candidate == &backend_userfault_user;
    case OPTION_HOLD_SIGNAL:
        return candidate == &backend_signal;
    default:
        return true;
    }
}

static bool backend_try(const struct backend *candidate)
{
    backend = candidate;
    if (candidate->start() && probe_holds())
        return true;
    candidate->stop();
    backend = NULL;
    return false;
}

bool protect_start(enum option_hold choice, protect_touched_fn *touched)
{
    static const struct backend *const candidates[] = {&backend_userfault, &backend_userfault_user, &backend_signal};
    int saved_errno = errno;
    memory_start();
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && backend == NULL; i++)
        if (choice_allows(choice, candidates[i]))
            backend_try(candidates[i]);
    fault_touched_set(touched);
    errno = saved_errno;
    return backend != NULL;
}

const char *protect_backend_name(void)
{
    return backend == NULL ? "none" : backend->name;
}

bool protect_system_calls_fail(void)
{
    return backend != NULL && backend->system_calls_fail;
}

void protect_threads_set(bool several)
{
    atomic_store_explicit(&has_several_threads, several, memory_order_relaxed);
}

int protect_event_descriptor(void)
{
    return backend == NULL ? -1 : backend->event_descriptor();
}

void protect_events_read(void)
{
    if (backend != NULL)
        backend->events_read();
}

void protect_stop(void)
{
    if (backend != NULL)
        backend->stop();
    backend = NULL;
    memory_stop();
}

/* The descriptors speak of the parent's memory. The lock may have been taken by
 * a thread that does not exist here. */
void protect_forked_child(void)
{
    protect_stop();
    atomic_store_explicit(&table_lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&protect_armed_count, 0, memory_order_relaxed);
    atomic_store_explicit(&hold_table_used, 0, memory_order_relaxed);
}
