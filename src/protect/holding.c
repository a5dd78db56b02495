/* SPDX-License-Identifier: MIT */
#include "protect/hold.h"

#include "base/pages.h"
#include "base/room.h"
#include "protect/armed.h"
#include "protect/backend.h"
#include "protect/closing.h"
#include "protect/fault.h"
#include "protect/holds.h"
#include "protect/protect.h"
#include "protect/reserve.h"
#include "protect/table.h"
#include "protect/touched.h"
#include "protect/transit.h"

/* A touch of pages that are held no more was late: let it go on. */
static void touch_answer(uintptr_t address)
{
    if (touched_serve(address))
        return;
    if (!fault_report(address))
        table.backend->wake(base_pages_of((struct range){address, address + 1}));
}

static void touches_answer(void)
{
    if (table.backend->events_read != NULL)
        table.backend->events_read(touch_answer);
}

/* A send that moves leaves the pages alone that it shares (scratch.h). */
static struct range pages_held(enum hold_kind kind, struct range bytes)
{
    return kind == HOLD_COPY_ON_TOUCH ? base_pages_within(bytes) : base_pages_of(bytes);
}

/* Pages that move take as many addresses again. A few are never refused: whether memory can be held is tried so, too.
 */
static bool has_room(enum hold_kind kind, struct range pages)
{
    size_t length_bytes = pages.high - pages.low;
    bool stays = kind == HOLD_NO_WRITE || table.backend->is_in_place;
    if (length_bytes < BASE_ROOM_SMALL_BYTES)
        return true;
    return stays || base_room_remains(length_bytes, BASE_ROOM_TO_HOLD_BYTES);
}

static enum reason arm_locked(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **armed)
{
    struct range pages = pages_held(kind, bytes);
    struct hold *hold = table_find_free();
    if (table.forking_count != 0)
        return REASON_NOT_RUNNING;
    if (hold == NULL)
        return REASON_TOO_MANY_OPS;
    if (!has_room(kind, pages))
        return REASON_MEMORY_LIMITED;
    if (!reserve_cover(1 + atomic_load_explicit(&protect_armed_count, memory_order_relaxed)))
        return REASON_MEMORY_FAILED;
    closing_prepare(bytes);
    table_fill(hold, kind, bytes, pages, op_id);
    table_publish(hold, pages);
    *armed = hold;
    if (closing_close(hold, kind, bytes, pages))
        return REASON_NONE;
    table_retire(hold);
    *armed = NULL;
    return REASON_MEMORY_FAILED;
}

enum reason protect_hold_arm(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **hold)
{
    if (table.backend == NULL || base_range_is_empty(pages_held(kind, bytes)))
        return REASON_MEMORY_FAILED;
    struct table_before before = table_enter();
    enum reason reason = arm_locked(kind, bytes, op_id, hold);
    table_leave(before);
    return reason;
}

void protect_hold_release(struct hold *hold)
{
    struct hold_view view;
    struct table_before before = table_enter();
    if (hold_view_take(hold, &view)) {
        touches_answer(); /* a touch that the release wakes would never be read */
        closing_open(hold, view.kind, view.pages);
        table_retire(hold);
    }
    table_leave(before);
}

void protect_hold_release_until(struct hold *hold, uintptr_t high)
{
    struct hold_view view;
    struct table_before before = table_enter();
    if (hold_view_take(hold, &view) && view.pages.low < high && high < view.pages.high) {
        touches_answer(); /* as above */
        closing_open(hold, view.kind, (struct range){view.pages.low, high});
        table_shorten(hold, high);
    }
    table_leave(before);
}

void protect_hold_ask_again(struct hold *hold)
{
    struct hold_view view;
    struct table_before before = table_enter();
    if (hold_view_take(hold, &view)) {
        table_renew(hold);
        if (table.backend->wake != NULL)
            table.backend->wake(view.pages);
    }
    table_leave(before);
}

/* MPI may go on to read in transit: the program gets copies of all pages. */
static void hold_leave_in_transit(struct hold *hold)
{
    struct hold_view view;
    struct table_before before = table_enter();
    if (hold_view_take(hold, &view)) { /* or the engine has just released it */
        touched_complete(hold, view.pages);
        table.backend->access_open(view.pages);
        table_retire(hold);
    }
    table_leave(before);
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
    if (view.kind == HOLD_NO_ACCESS && !protect_holds_in_place())
        transit_fill(view.pages);
}

static void hold_part_locked(struct hold *hold, struct range pages, void *room)
{
    transit_copy(room, pages);
    touches_answer(); /* as for a release */
    closing_open(hold, HOLD_NO_ACCESS, pages);
    table_retire(hold);
    transit_lay(room, pages);
}

/* What is still to come goes there anyway. */
static void hold_part_in_place(struct hold *hold, struct range pages, void *room)
{
    closing_open(hold, HOLD_NO_ACCESS, pages);
    table_retire(hold);
    protect_hold_room_give_back(room, pages);
}

bool protect_hold_part(struct hold *hold, void *room)
{
    struct hold_view view;
    struct table_before before = table_enter();
    bool is_parted = hold_view_take(hold, &view);
    if (is_parted && table.backend->is_in_place)
        hold_part_in_place(hold, view.pages, room);
    else if (is_parted)
        hold_part_locked(hold, view.pages, room);
    table_leave(before);
    return is_parted;
}

void protect_hold_join(struct range bytes)
{
    if (!table.backend->is_in_place)
        transit_join(bytes);
}

void *protect_hold_transfer_address(const struct hold *hold)
{
    uint32_t kind = atomic_load_explicit(&hold->kind, memory_order_relaxed);
    enum transit transit = kind == HOLD_COPY_ON_TOUCH ? TRANSIT_SEND : TRANSIT_RECEIVE;
    bool has_stayed = kind == HOLD_NO_WRITE || protect_holds_in_place();
    return (void *)(has_stayed ? hold->bytes.low : transit_address(transit, hold->bytes.low));
}

void protect_hold_events_read(void)
{
    if (table.backend == NULL)
        return;
    struct table_before before = table_enter();
    touches_answer();
    table_leave(before);
}

bool protect_armed_is_elsewhere(void)
{
    struct hold_view view;
    return !protect_holds_in_place() && hold_first_of(HOLDS_NO_READ, base_range_of_all(), &view) != NULL;
}
