/* SPDX-License-Identifier: MIT */
#include "protect/closing.h"

#include <stdatomic.h>

#include "base/pages.h"
#include "protect/armed.h"
#include "protect/backend.h"
#include "protect/huge.h"
#include "protect/scratch.h"
#include "protect/table.h"
#include "protect/touched.h"
#include "protect/transit.h"

static bool has_threads_beside(void)
{
    return atomic_load_explicit(&table.has_several_threads, memory_order_relaxed);
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
static bool edge_take_out(enum transit transit, struct range edge)
{
    if (!table.backend->access_close(edge) || !transit_move_out(transit, edge))
        return false;
    if (table.backend->transit_settle(transit_range(transit, edge)))
        return true;
    transit_move_home(transit, edge);
    return false;
}

/* What is sent other threads may read at any moment (MPI 4.1, 3.7.2): every page is an edge. */
static struct pieces pieces_of_send(struct range pages)
{
    struct range none = {pages.high, pages.high};
    return has_threads_beside() ? (struct pieces){{pages, none, none}} : (struct pieces){{none, none, pages}};
}

static bool piece_take_out(enum transit transit, const struct pieces *pieces, int index)
{
    struct range piece = pieces->range[index];
    if (base_range_is_empty(piece))
        return true;
    return index == PIECE_MIDDLE ? transit_move_out(transit, piece) : edge_take_out(transit, piece);
}

/* What differs between receives and sends: where pages go, in which pieces, and what closes those that are empty then.
 */
struct way_out {
    enum transit transit;
    struct pieces pieces;
    bool (*close)(struct range pages);
};

static bool pages_take_out(const struct way_out *way, struct range pages)
{
    int out = 0;
    while (out < PIECES && piece_take_out(way->transit, &way->pieces, out))
        out++;
    if (out == PIECES && way->close(pages))
        return true;
    while (out-- > 0)
        if (!base_range_is_empty(way->pieces.range[out]))
            transit_move_home(way->transit, way->pieces.range[out]);
    table.backend->access_open(pages);
    return false;
}

/* Nothing moves. */
static bool pages_close(struct range pages)
{
    bool is_closed = table.backend->access_close(pages);
    if (!is_closed)
        table.backend->access_open(pages);
    return is_closed;
}

static bool send_take_out(struct hold *hold, struct range pages)
{
    if (table.backend->copying_close == NULL || !scratch_lay(hold))
        return false;
    struct way_out way = {TRANSIT_SEND, pieces_of_send(pages), table.backend->copying_close};
    bool is_out = pages_take_out(&way, pages);
    if (is_out)
        touched_begin(hold);
    else
        scratch_remove(hold);
    return is_out;
}

/* --- sending: no write --- */

/* Where the next armed no-write hold other than `self` ends that covers `page`; 0 without one. */
static uintptr_t covered_until(const struct hold *self, uintptr_t page)
{
    struct range byte = {page, page + 1};
    struct hold_view view;
    struct hold *hold = hold_next(NULL, byte, &view);
    if (hold == self)
        hold = hold_next(hold, byte, &view);
    return hold == NULL ? 0 : view.pages.high;
}

/* Where the next armed hold other than `self` begins after `page`, which none covers, at most `limit`. */
static uintptr_t uncovered_until(const struct hold *self, uintptr_t page, uintptr_t limit)
{
    struct range pages = {page, limit};
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, pages, &view); hold != NULL; hold = hold_next(hold, pages, &view))
        if (hold != self && view.pages.low < limit)
            limit = view.pages.low;
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
            table.backend->write_open((struct range){page, next});
        page = next;
    }
}

/* A mapping without any page takes its place in the kernel's order of pages from
 * its first one. If that came in transit, the mapping would not merge with its
 * neighbours at home again, and every hold would leave a seam. So one page
 * exists before. The byte belongs to MPI by now, and keeps its value. */
__attribute__((no_sanitize("address", "thread"))) void closing_prepare(struct range bytes)
{
    uintptr_t address = bytes.low;
    if (protect_armed_find((struct range){address, address + 1}, false) != 0)
        return; /* another message holds it: it has pages already */
    unsigned char *byte = (unsigned char *)address;
    unsigned char value = __atomic_load_n(byte, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool closing_close(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages)
{
    struct way_out receive = {TRANSIT_RECEIVE, pieces_of(bytes, pages), table.backend->access_close};
    if (kind == HOLD_NO_ACCESS)
        return table.backend->is_in_place ? pages_close(pages) : pages_take_out(&receive, pages);
    if (kind == HOLD_COPY_ON_TOUCH)
        return send_take_out(hold, pages);
    huge_note_send(pages);
    if (table.backend->write_close(pages))
        return true;
    write_open_uncovered(hold, pages);
    return false;
}

void closing_open(struct hold *hold, enum hold_kind kind, struct range pages)
{
    if (kind == HOLD_NO_WRITE) {
        write_open_uncovered(hold, pages);
        return;
    }
    if (table.backend->is_in_place) {
        table.backend->access_open(pages);
        return;
    }
    if (kind == HOLD_COPY_ON_TOUCH)
        touched_collect(hold);
    transit_move_home(kind == HOLD_COPY_ON_TOUCH ? TRANSIT_SEND : TRANSIT_RECEIVE, pages);
    if (table.backend->wake != NULL)
        table.backend->wake(pages);
    if (kind == HOLD_COPY_ON_TOUCH)
        scratch_remove(hold);
}
