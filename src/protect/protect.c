/* SPDX-License-Identifier: MIT */
/* The order of steps that makes a hold, and the table of holds. */
#include "protect/protect.h"

#include <errno.h>

#include "base/futex.h"
#include "base/lock.h"
#include "protect/backend.h"
#include "protect/fault.h"
#include "protect/hold.h"
#include "protect/huge.h"
#include "protect/kernel.h"
#include "protect/memory.h"
#include "protect/probe.h"
#include "protect/reserve.h"
#include "protect/touched.h"
#include "protect/transit.h"

_Atomic uint32_t protect_armed_count;

/* Armed holds with copies on touch; written under the lock, a hint to readers. */
static _Atomic uint32_t copying_count;

static const struct backend *backend; /* NULL: none; written by start, stop and after fork */
static _Atomic bool has_several_threads = true;

/* Arm and release, one at a time. All signals are blocked meanwhile: a handler
 * of the program that touched a hold would wait for a release that waits here. */
static struct base_lock table_lock;

/* Threads that fork now; under the lock. */
static uint32_t forking_count;

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
    hold->bytes = bytes;
    /* release: see the order in hold.h */
    atomic_store_explicit(&hold->low, pages.low, memory_order_release);
    atomic_store_explicit(&hold->high, pages.high, memory_order_release);
    atomic_store_explicit(&hold->op_id, op_id, memory_order_release);
    atomic_store_explicit(&hold->kind, kind, memory_order_release);
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

static bool has_threads_beside(void)
{
    return atomic_load_explicit(&has_several_threads, memory_order_relaxed);
}

/* --- receiving: no access --- */

/* A buffer's pages as they move: one after the other, the middle last, so that
 * the pieces merge into one mapping in transit. Any of them may be empty. */
enum { PIECE_LOW_EDGE, PIECE_HIGH_EDGE, PIECE_MIDDLE, PIECES };

struct pieces {
    struct range range[PIECES];
};

/* Other threads may use the neighbours in an edge page at any moment, and must
 * not meet the empty page of the gap between moving and guarding. Pages that are
 * the buffer's alone need no such care: nobody may touch them during a receive. */
static struct pieces pieces_of(struct range bytes, struct range pages)
{
    size_t page_bytes = base_page_bytes();
    struct range low = {pages.low, pages.low};
    struct range high = {pages.high, pages.high};
    bool is_guarded = has_threads_beside();
    if (is_guarded && bytes.low != pages.low)
        low.high += page_bytes;
    if (is_guarded && bytes.high != pages.high && low.high < pages.high)
        high.low -= page_bytes;
    return (struct pieces){{low, high, {low.high, high.low}}};
}

/* Guarded first. (Not the whole range: mremap of registered memory goes page by
 * page, 180 us for 64 MiB where whole page tables take 40.) */
static bool edge_take_out(struct range edge)
{
    if (!backend->access_close(edge) || !transit_move_out(edge))
        return false;
    if (backend->transit_settle(transit_range(edge)))
        return true;
    transit_move_home(edge);
    return false;
}

/* What is sent other threads may read at any moment (MPI 4.1, 3.7.3): every page is an edge. */
static struct pieces pieces_of_send(struct range pages)
{
    struct range none = {pages.high, pages.high};
    return has_threads_beside() ? (struct pieces){{pages, none, none}} : (struct pieces){{none, none, pages}};
}

static bool piece_take_out(const struct pieces *pieces, int index)
{
    struct range piece = pieces->range[index];
    if (base_range_is_empty(piece))
        return true;
    return index == PIECE_MIDDLE ? transit_move_out(piece) : edge_take_out(piece);
}

static bool pages_take_out(struct pieces pieces, struct range pages, bool (*close)(struct range pages))
{
    int out = 0;
    while (out < PIECES && piece_take_out(&pieces, out))
        out++;
    if (out == PIECES && close(pages))
        return true;
    while (out-- > 0)
        if (!base_range_is_empty(pieces.range[out]))
            transit_move_home(pieces.range[out]);
    backend->access_open(pages);
    return false;
}

/* --- sending: a copy for who touches --- */

static bool send_take_out(struct hold *hold, struct range pages)
{
    if (backend->copying_close == NULL || !pages_take_out(pieces_of_send(pages), pages, backend->copying_close))
        return false;
    touched_begin(hold);
    atomic_fetch_add_explicit(&copying_count, 1, memory_order_relaxed);
    return true;
}

/* Reports from several threads may come at once (engine, release): under the lock. */
static bool touch_serve(uintptr_t address)
{
    struct hold_view view;
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (hold_view_take(&hold_table[i], &view) && view.kind == HOLD_COPY_ON_TOUCH && view.pages.low <= address &&
            address < view.pages.high)
            return forking_count != 0 || touched_serve(&hold_table[i], view.pages, backend, address);
    return false;
}

/* A touch of pages that are held no more was late: let it go on. */
static void touch_answer(uintptr_t address)
{
    if (touch_serve(address))
        return;
    if (!fault_report(address))
        backend->wake(base_pages_of((struct range){address, address + 1}));
}

/* While a thread forks nothing is copied: the child could meet a page that is half there.
 * Who touches meanwhile touches again. */
static void touches_let_again(void)
{
    struct hold_view view;
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (hold_view_take(&hold_table[i], &view) && view.kind == HOLD_COPY_ON_TOUCH)
            backend->wake(view.pages);
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

static bool pages_close(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages)
{
    if (kind == HOLD_NO_ACCESS)
        return pages_take_out(pieces_of(bytes, pages), pages, backend->access_close);
    if (kind == HOLD_COPY_ON_TOUCH)
        return send_take_out(hold, pages);
    huge_note_send(pages);
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
    if (kind == HOLD_COPY_ON_TOUCH) {
        touched_collect(hold, backend);
        atomic_fetch_sub_explicit(&copying_count, 1, memory_order_relaxed);
    }
    transit_move_home(pages);
    backend->wake(pages);
}

static enum reason arm_locked(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **armed)
{
    struct range pages = base_pages_of(bytes);
    struct hold *hold = slot_find_free();
    if (forking_count != 0)
        return REASON_NOT_RUNNING;
    if (hold == NULL)
        return REASON_TOO_MANY_OPS;
    if (!reserve_cover(1 + atomic_load_explicit(&protect_armed_count, memory_order_relaxed)))
        return REASON_MEMORY_FAILED;
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
    if (backend == NULL || base_range_is_empty(bytes))
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
        backend->events_read(touch_answer); /* a touch that the release wakes would never be read */
        pages_open(hold, view.kind, view.pages);
        slot_retire(hold);
    }
    table_leave(mask);
    errno = saved_errno;
}

/* MPI may go on to read in transit: the program gets copies of all pages. */
static void hold_leave_in_transit(struct hold *hold)
{
    struct hold_view view;
    uint64_t mask = table_enter();
    if (hold_view_take(hold, &view)) { /* or the engine has just released it */
        touched_complete(hold, view.pages, backend);
        backend->access_open(view.pages);
        atomic_fetch_sub_explicit(&copying_count, 1, memory_order_relaxed);
        slot_retire(hold);
    }
    table_leave(mask);
}

void protect_hold_abandon(struct hold *hold)
{
    struct hold_view view;
    if (!hold_view_take(hold, &view))
        return;
    if (view.kind == HOLD_COPY_ON_TOUCH) {
        hold_leave_in_transit(hold);
        return;
    }
    protect_hold_release(hold);
    if (view.kind == HOLD_NO_ACCESS)
        transit_fill(view.pages);
}

void *protect_hold_transfer_address(const struct hold *hold)
{
    bool is_moved = atomic_load_explicit(&hold->kind, memory_order_relaxed) != HOLD_NO_WRITE;
    return (void *)(is_moved ? transit_address(hold->bytes.low) : hold->bytes.low);
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
    case OPTION_HOLD_NONE:
        return false;
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

bool protect_system_calls_must_wait(void)
{
    return protect_system_calls_fail() || protect_is_copying();
}

bool protect_sets_rights(void)
{
    return backend != NULL && backend->sets_rights;
}

bool protect_copies_touched(void)
{
    return backend != NULL && backend->copying_close != NULL;
}

bool protect_is_copying(void)
{
    /* relaxed: a thread knows of the holds that it has armed itself */
    return atomic_load_explicit(&copying_count, memory_order_relaxed) != 0;
}

size_t protect_copied_most(size_t length_bytes)
{
    enum { LEAST_BYTES = 64 << 10, SHARE = 4 };
    return length_bytes / SHARE > LEAST_BYTES ? length_bytes / SHARE : LEAST_BYTES;
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
    if (backend == NULL)
        return;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    backend->events_read(touch_answer);
    table_leave(mask);
    errno = saved_errno;
}

void protect_stop(void)
{
    if (backend != NULL)
        backend->stop();
    backend = NULL;
    huge_forget();
    memory_stop();
    reserve_stop();
}

void protect_fork_begin(void)
{
    uint64_t mask = table_enter();
    forking_count++;
    table_leave(mask);
}

void protect_fork_end(void)
{
    uint64_t mask = table_enter();
    if (--forking_count == 0)
        touches_let_again();
    table_leave(mask);
}

/* --- a forked child: one thread, nothing is locked, relaxed does --- */

/* The page of the first or last byte, where it has other bytes, too: the program's, which
 * came along in transit. The parent may have brought it home already. */
static void edge_inherit(struct range edge)
{
    transit_fetch(edge);
    if (protect_sets_rights() && !base_range_is_empty(edge))
        kernel_mprotect(edge, PROT_READ | PROT_WRITE);
}

/* Nobody will bring the data: the pages that are the message's alone stay closed. */
static bool hold_lose(struct hold *hold, struct range pages)
{
    struct range inner = base_pages_within(hold->bytes);
    if (base_range_is_empty(inner))
        inner = (struct range){pages.high, pages.high};
    edge_inherit((struct range){pages.low, inner.low});
    edge_inherit((struct range){inner.high, pages.high});
    if (base_range_is_empty(inner))
        return false;
    kernel_mprotect(inner, PROT_NONE);
    atomic_store_explicit(&hold->low, inner.low, memory_order_relaxed);
    atomic_store_explicit(&hold->high, inner.high, memory_order_relaxed);
    atomic_store_explicit(&hold->kind, HOLD_LOST, memory_order_relaxed);
    atomic_fetch_add_explicit(&hold->word, 2, memory_order_relaxed); /* a handler's child may go back to sleep on it */
    return true;
}

/* A hold of the parent's, however far it was with releasing it: what was sent can be used,
 * what was being received is lost. True when it is. */
static bool hold_inherit(struct hold *hold)
{
    struct hold_view view;
    if (!hold_view_take(hold, &view))
        return false;
    if (view.kind == HOLD_LOST || (view.kind == HOLD_NO_ACCESS && hold_lose(hold, view.pages)))
        return true;
    if (view.kind == HOLD_COPY_ON_TOUCH)
        touched_inherit(hold, view.pages);
    if (view.kind == HOLD_NO_WRITE && protect_sets_rights())
        kernel_mprotect(view.pages, PROT_READ | PROT_WRITE);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_relaxed);
    return false;
}

/* How many are lost. */
static uint32_t holds_inherit(void)
{
    uint32_t used = atomic_load_explicit(&hold_table_used, memory_order_relaxed);
    uint32_t lost_count = 0;
    for (uint32_t i = 0; i < used; i++)
        lost_count += hold_inherit(&hold_table[i]);
    return lost_count;
}

/* The descriptors speak of the parent's memory. The lock may have been taken by
 * a thread that does not exist here. */
void protect_forked_child(void)
{
    uint32_t lost_count = holds_inherit();
    protect_stop();
    backend_signal.stop(); /* a child of such a child has it already */
    if (lost_count != 0)
        backend_signal.start(); /* for its handler, which tells */
    table_shrink();
    atomic_store_explicit(&table_lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&protect_armed_count, 0, memory_order_relaxed);
    atomic_store_explicit(&copying_count, 0, memory_order_relaxed);
    forking_count = 0;
}
