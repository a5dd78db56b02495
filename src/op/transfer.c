/* SPDX-License-Identifier: MIT */
#include "op/transfer.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"
#include "op/busy.h"
#include "op/copies.h"
#include "op/host.h"
#include "op/observer.h"
#include "op/stall.h"
#include "op/thread.h"
#include "protect/touched.h"
#include "record/record.h"

/* A fault, its report and two thread switches, measured on the reference
 * machine; charged to an op that was touched while it was pending. */
enum { TOUCH_COST_NS = 15000, ROUNDS_BEFORE_YIELD = 100, TOUCHED_TOO_LATE = -1 };

static struct {
    struct transfer slots[TRANSFERS_MAX];
    _Atomic uint64_t sequence;
    _Atomic uint32_t count;
    _Atomic uint32_t unmatched;
    _Atomic uintptr_t unmatched_starter; /* transfer_me() of who has begun them: one thread */
    _Atomic uint32_t ahead;              /* changed inside the gate; read by any thread, which has begun them */
    _Atomic int64_t charged_ns;          /* of all stalls: up to where they were charged; by who ends a collective */
    uint32_t launched;                   /* and not ended; inside the gate, as the next */
    int64_t ran_before_ns; /* for how long the program had run, but for stalls, when the first of these was launched */
} transfers;

static struct transfer *transfer_of(uint64_t id)
{
    return &transfers.slots[id & ((1U << TRANSFER_SLOT_BITS) - 1)];
}

static bool transfer_claim(uint32_t slot)
{
    struct transfer *transfer = &transfers.slots[slot];
    uint64_t unused = 0;
    uint64_t sequence = 1 + atomic_fetch_add_explicit(&transfers.sequence, 1, memory_order_relaxed);
    uint64_t id = (sequence << TRANSFER_SLOT_BITS) | slot;
    /* acquire: pairs with transfer_free(), whose slot we write into. */
    return atomic_compare_exchange_strong_explicit(&transfer->id, &unused, id, memory_order_acquire,
                                                   memory_order_relaxed);
}

static uintptr_t transfer_me(void)
{
    return (uintptr_t)&op_thread;
}

static struct transfer *transfer_reset(uint32_t slot)
{
    struct transfer *transfer = &transfers.slots[slot];
    transfer->slot = slot;
    /* relaxed: a thread looks for its own only. */
    atomic_store_explicit(&transfer->starter, transfer_me(), memory_order_relaxed);
    transfer->place = NULL;
    transfer->hold_count = 0;
    transfer->hold_cost_ns = 0;
    transfer->copy = NULL;
    transfer->reserved_bytes = 0;
    transfer->beside = 0;
    atomic_store_explicit(&transfer->touched_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&transfer->waited_ns, 0, memory_order_relaxed);
    transfer->way = POLICY_HOLD;
    atomic_store_explicit(&transfer->let_go, NULL, memory_order_relaxed);
    atomic_store_explicit(&transfer->is_kept, false, memory_order_relaxed); /* as let_go */
    transfer->is_parted = false;
    transfer->part_pages = (struct range){0, 0};
    transfer->stalled_when_taken_ns = stall_total_ns();
    transfer->begun_ns = observer_draws() ? base_clock_now_ns() : 0;
    transfer->announced_ns = 0;
    return transfer;
}

struct transfer *transfer_take(void)
{
    if (atomic_fetch_add_explicit(&transfers.count, 1, memory_order_relaxed) < TRANSFERS_MAX) {
        for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
            if (atomic_load_explicit(&transfers.slots[slot].id, memory_order_relaxed) == 0 && transfer_claim(slot))
                return transfer_reset(slot);
        }
    }
    atomic_fetch_sub_explicit(&transfers.count, 1, memory_order_relaxed);
    return NULL;
}

static void transfer_free(struct transfer *transfer)
{
    /* release: who takes the slot next, or reads that the op is over, sees its end. */
    atomic_store_explicit(&transfer->id, 0, memory_order_release);
    atomic_fetch_sub_explicit(&transfers.count, 1, memory_order_relaxed);
}

uint64_t transfer_id(uint32_t slot)
{
    return atomic_load_explicit(&transfers.slots[slot].id, memory_order_acquire);
}

uint32_t transfer_unmatched(void)
{
    /* acquire: who reads 0 comes after what was waited for. */
    return atomic_load_explicit(&transfers.unmatched, memory_order_acquire);
}

void transfer_unmatched_add(void)
{
    /* relaxed: its own thread reads them next, and others after it. */
    atomic_store_explicit(&transfers.unmatched_starter, transfer_me(), memory_order_relaxed);
    atomic_fetch_add_explicit(&transfers.unmatched, 1, memory_order_relaxed);
}

void transfer_unmatched_remove(void)
{
    atomic_fetch_sub_explicit(&transfers.unmatched, 1, memory_order_release); /* pairs with transfer_unmatched() */
}

bool transfer_is_pending(uint64_t id)
{
    return atomic_load_explicit(&transfer_of(id)->id, memory_order_acquire) == id;
}

enum reason transfer_hold(struct transfer *transfer, enum hold_kind kind, struct range bytes)
{
    int64_t begin_ns = base_clock_now_ns();
    uint64_t id = atomic_load_explicit(&transfer->id, memory_order_relaxed);
    if (transfer->hold_count == TRANSFER_HOLDS_MAX)
        return REASON_TOO_MANY_OPS;
    struct transfer_hold *next = &transfer->holds[transfer->hold_count];
    if (!gate_hold_back_signals()) /* a handler's touch would wait for the engine, which waits until we leave */
        return REASON_OTHER_THREAD;
    enum reason reason = protect_hold_arm(kind, bytes, id, &next->hold);
    if (reason == REASON_NONE) {
        next->moved_bytes = (uintptr_t)protect_hold_transfer_address(next->hold) - bytes.low;
        transfer->hold_count++;
    }
    transfer->hold_cost_ns += base_clock_now_ns() - begin_ns;
    return reason;
}

void transfer_unhold(struct transfer *transfer)
{
    if (transfer->hold_count == 0)
        return;
    int64_t begin_ns = base_clock_now_ns();
    for (uint32_t i = 0; i < transfer->hold_count; i++)
        protect_hold_release(transfer->holds[i].hold);
    transfer->hold_count = 0;
    transfer->hold_cost_ns += base_clock_now_ns() - begin_ns;
}

bool transfer_is_starter(void)
{
    return op_thread.is_starter;
}

/* One op's part of what it took of the program's core meanwhile; the op still counts itself. */
static int64_t transfer_engine_ns(const struct transfer *transfer)
{
    int64_t taken_ns = transfer->engine_before_ns == 0 ? 0 : engine_shared_core_ns() - transfer->engine_before_ns;
    return taken_ns / atomic_load_explicit(&transfers.count, memory_order_relaxed);
}

/* Those that are under way at once have the same time: what each of them has adds up to more than the program ran. Who
 * begins the first writes when that was before his op can end, so that the end of the last finds it. */
static void transfer_count_launched(int64_t ran_ns)
{
    if (atomic_fetch_add_explicit(&transfers.launched, 1, memory_order_relaxed) == 0)
        atomic_store_explicit(&transfers.ran_before_ns, ran_ns, memory_order_relaxed);
}

/* First when they began: once the last has ended another thread may begin one. */
static void transfer_count_ended(int64_t ran_ns)
{
    int64_t before_ns = atomic_load_explicit(&transfers.ran_before_ns, memory_order_relaxed);
    /* acq_rel: the load stays before, and the next to begin comes after it. */
    bool is_last = atomic_fetch_sub_explicit(&transfers.launched, 1, memory_order_acq_rel) == 1;
    if (is_last && ran_ns > before_ns)
        record_count(RECORD_BESIDE_NS, (uint64_t)(ran_ns - before_ns));
}

void transfer_launch(struct transfer *transfer)
{
    op_thread.is_starter = true;
    busy_raise();
    transfer->returned_ns = base_clock_now_ns();
    transfer->stalled_before_ns = stall_total_ns();
    transfer_count_launched(transfer->returned_ns - transfer->stalled_before_ns);
    transfer->engine_before_ns = engine_shared_core_ns();
    engine_add(&transfer->op);
}

/* From now on a touch is no longer this op's. acq_rel: see transfer_touched(). */
static int64_t transfer_close(struct transfer *transfer)
{
    return atomic_exchange_explicit(&transfer->touched_ns, TOUCHED_TOO_LATE, memory_order_acq_rel);
}

/* seq_cst: see engine_sleep(). Signal context, too. */
static void transfer_waiter_add(void)
{
    atomic_fetch_add_explicit(&engine_pending_state.waiters, 1, memory_order_seq_cst);
    engine_wake();
}

static void transfer_waiter_remove(void)
{
    atomic_fetch_sub_explicit(&engine_pending_state.waiters, 1, memory_order_relaxed);
}

static void transfer_count_touch(int64_t touched_ns, int64_t ended_ns)
{
    stall_end();
    transfer_waiter_remove();
    record_count(RECORD_TOUCHES, 1);
    if (ended_ns > touched_ns)
        record_count(RECORD_TOUCH_WAIT_NS, (uint64_t)(ended_ns - touched_ns));
}

/* Time that the program ran on after the early return: until the first touch or
 * the end, without what it spent waiting elsewhere meanwhile. */
static int64_t transfer_overlapped_ns(struct transfer *transfer, int64_t touched_ns, int64_t ended_ns)
{
    int64_t until_ns = touched_ns != 0 ? touched_ns : ended_ns;
    int64_t stalled_ns =
        touched_ns != 0 ? atomic_load_explicit(&transfer->stalled_at_touch_ns, memory_order_relaxed) : stall_total_ns();
    int64_t overlapped_ns = until_ns - transfer->returned_ns - (stalled_ns - transfer->stalled_before_ns);
    return overlapped_ns > 0 ? overlapped_ns : 0;
}

/* Calls wait, too: for pages that a receive shares with what is sent, or that it moved. They must not again and again.
 */
static void transfer_learn_wait(struct transfer *transfer, int64_t touched_ns, int64_t ended_ns)
{
    int64_t waited_ns = atomic_load_explicit(&transfer->waited_ns, memory_order_relaxed);
    int64_t since_ns = touched_ns != 0 ? touched_ns : waited_ns;
    if (since_ns != 0)
        policy_site_learn_wait(transfer->site, transfer->way, ended_ns - since_ns, copies_cost_ns(transfer->bytes));
}

/* Who touched it goes on, if nothing is held there any more. */
static bool transfer_let_go(struct transfer *transfer)
{
    int64_t touched_ns = atomic_load_explicit(&transfer->touched_ns, memory_order_acquire);
    uintptr_t address = atomic_load_explicit(&transfer->touched_address, memory_order_relaxed);
    if (touched_ns == 0 || protect_armed_find((struct range){address, address + 1}, false) != 0)
        return false;
    atomic_store_explicit(&transfer->touched_ns, 0, memory_order_relaxed); /* published with the words of the holds */
    transfer_count_touch(touched_ns, base_clock_now_ns());
    return true;
}

/* Other threads may wait further on: only the first was counted, and an engine that thinks that nobody waits might
 * sleep. They are asked to tell again, once nobody is counted any more. */
void transfer_release_until(struct transfer *transfer, uint32_t index, uintptr_t high)
{
    int64_t begin_ns = base_clock_now_ns();
    protect_hold_release_until(transfer->holds[index].hold, high);
    transfer->hold_cost_ns += base_clock_now_ns() - begin_ns;
    if (!transfer_let_go(transfer))
        return;
    for (uint32_t i = 0; i < transfer->hold_count; i++)
        protect_hold_ask_again(transfer->holds[i].hold);
}

static void transfer_count(const struct transfer *transfer, int64_t overlapped_ns)
{
    static const enum record_counter ops[] = {[POLICY_SEND] = RECORD_OPS_SEND,
                                              [POLICY_RECEIVE] = RECORD_OPS_RECEIVE,
                                              [POLICY_COLLECTIVE] = RECORD_OPS_COLLECTIVE};
    static const enum record_counter bytes[] = {[POLICY_SEND] = RECORD_BYTES_SEND,
                                                [POLICY_RECEIVE] = RECORD_BYTES_RECEIVE,
                                                [POLICY_COLLECTIVE] = RECORD_BYTES_COLLECTIVE};
    record_count(ops[transfer->direction], 1);
    record_count(bytes[transfer->direction], transfer->bytes);
    record_count(RECORD_OVERLAPPED_NS, (uint64_t)overlapped_ns);
    record_count(RECORD_HOLD_NS, (uint64_t)transfer->hold_cost_ns);
}

/* Collectives that are under way together are waited for together: who ends first has the stall, so that each counts
 * once. Others are not asked for theirs. relaxed: numbers for judging. */
static int64_t transfer_stopped_ns(const struct transfer *transfer)
{
    int64_t total_ns = stall_total_ns();
    int64_t own_ns = total_ns - transfer->stalled_when_taken_ns;
    if (transfer->direction != POLICY_COLLECTIVE)
        return own_ns;
    int64_t new_ns = total_ns - atomic_exchange_explicit(&transfers.charged_ns, total_ns, memory_order_relaxed);
    return new_ns < own_ns ? new_ns : own_ns;
}

static struct transfer_outcome transfer_judge(struct transfer *transfer)
{
    int64_t ended_ns = base_clock_now_ns();
    int64_t closed_ns = transfer_close(transfer);
    int64_t touched_ns = closed_ns > 0 ? closed_ns : 0;
    int64_t overlapped_ns = transfer_overlapped_ns(transfer, touched_ns, ended_ns);

    if (touched_ns != 0)
        transfer_count_touch(touched_ns, ended_ns);
    transfer_count(transfer, overlapped_ns);
    transfer_count_ended(ended_ns - stall_total_ns());
    if (transfer->direction == POLICY_SEND)
        transfer_learn_wait(transfer, touched_ns, ended_ns);
    int64_t lasted_ns = ended_ns - transfer->returned_ns;
    int64_t engine_ns = transfer_engine_ns(transfer);
    int64_t dear_ns = engine_is_dear() ? engine_ns : 0;
    int64_t touch_cost_ns = touched_ns != 0 ? TOUCH_COST_NS : 0;
    int64_t cost_ns = transfer->hold_cost_ns + dear_ns + touch_cost_ns;
    policy_site_learn(transfer->site, transfer->situation,
                      (struct policy_outcome){
                          .overlapped_ns = overlapped_ns / (1 + (int64_t)transfer->beside),
                          .cost_ns = cost_ns,
                          .transfer_ns = lasted_ns,
                          .engine_ns = engine_ns - dear_ns,
                          .is_late = engine_strategy_is_polling(),
                      });
    return (struct transfer_outcome){lasted_ns, overlapped_ns, transfer_stopped_ns(transfer), cost_ns,
                                     engine_ns - dear_ns};
}

/* Where it was parted the room is in transit, and no more ours. */
static void transfer_unprepare(struct transfer *transfer)
{
    struct range pages = transfer->part_pages;
    if (base_range_is_empty(pages))
        return;
    int64_t begin_ns = base_clock_now_ns();
    if (transfer->part_room != NULL)
        protect_hold_room_give_back(transfer->part_room, pages);
    copies_unreserve(pages.high - pages.low);
    transfer->part_pages = (struct range){0, 0};
    transfer->hold_cost_ns += base_clock_now_ns() - begin_ns;
}

void transfer_cancel(struct transfer *transfer)
{
    transfer_unhold(transfer);
    transfer_unprepare(transfer);
    int64_t touched_ns = transfer_close(transfer);
    if (touched_ns > 0)
        transfer_count_touch(touched_ns, base_clock_now_ns());
    transfer_free(transfer);
}

void transfer_cancel_over(struct transfer *transfer)
{
    transfer_unhold(transfer);
    if (transfer->hold_cost_ns != 0)
        policy_site_learn(transfer->site, transfer->situation,
                          (struct policy_outcome){.cost_ns = transfer->hold_cost_ns});
    transfer_cancel(transfer);
}

void transfer_note_announced(struct transfer *transfer)
{
    if (observer_draws())
        transfer->announced_ns = base_clock_now_ns();
}

static const void *transfer_place(const struct transfer *transfer)
{
    return transfer->site != NULL ? policy_site_place(transfer->site) : transfer->place;
}

/* The outcome's times are counted from the early return on, and end with the release. */
static void transfer_draw(const struct transfer *transfer, int64_t came_ns, int64_t touched_ns,
                          const struct transfer_outcome *outcome)
{
    observer.op_over(&(struct observer_op){.direction = transfer->direction,
                                           .place = transfer_place(transfer),
                                           .bytes = transfer->bytes,
                                           .begun_ns = transfer->begun_ns,
                                           .returned_ns = transfer->returned_ns,
                                           .announced_ns = transfer->announced_ns,
                                           .touched_ns = touched_ns,
                                           .came_ns = came_ns,
                                           .released_ns = transfer->returned_ns + outcome->lasted_ns,
                                           .overlapped_ns = outcome->overlapped_ns});
}

struct transfer_outcome transfer_end(struct transfer *transfer)
{
    void *copy = transfer->copy;
    size_t reserved_bytes = transfer->reserved_bytes;
    int64_t came_ns = observer_draws() ? base_clock_now_ns() : 0;
    transfer_unhold(transfer);
    int64_t touched_ns = atomic_load_explicit(&transfer->touched_ns, memory_order_relaxed);
    struct transfer_outcome outcome = transfer_judge(transfer);
    if (observer_draws())
        transfer_draw(transfer, came_ns, touched_ns, &outcome);
    transfer_free(transfer);
    busy_lower();
    copies_give_back(copy);
    copies_unreserve(reserved_bytes);
    return outcome;
}

void transfer_note_wait(uint64_t id)
{
    int64_t none = 0;
    if (transfer_is_pending(id))
        atomic_compare_exchange_strong_explicit(&transfer_of(id)->waited_ns, &none, base_clock_now_ns(),
                                                memory_order_relaxed, memory_order_relaxed);
}

/* --- memory that is held ahead of its op --- */

uint32_t transfer_ahead_count(void)
{
    return atomic_load_explicit(&transfers.ahead, memory_order_relaxed);
}

uint32_t transfer_parted_count(void)
{
    return transfer_ahead_count() - engine_pending_held();
}

bool transfer_ahead_prepare(struct transfer *transfer, struct range bytes)
{
    struct range pages = base_pages_of(bytes);
    if (!copies_reserve(pages.high - pages.low))
        return false;
    int64_t begin_ns = base_clock_now_ns();
    transfer->part_pages = pages;
    transfer->part_room = protect_hold_room_take(pages);
    transfer->hold_cost_ns += base_clock_now_ns() - begin_ns;
    return transfer->part_room != NULL;
}

void transfer_ahead_begin(struct transfer *transfer, transfer_let_go_fn *let_go)
{
    atomic_store_explicit(&transfer->let_go, let_go, memory_order_release); /* see transfer_let_go_of() */
    atomic_fetch_add_explicit(&transfers.ahead, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&engine_pending_state.held, 1, memory_order_relaxed);
    busy_raise();
    engine_assist_begin();
}

void transfer_keep_begin(struct transfer *transfer, transfer_let_go_fn *let_go)
{
    atomic_store_explicit(&transfer->is_kept, true, memory_order_relaxed);
    transfer_ahead_begin(transfer, let_go);
}

/* It is held no more, or as an op. release: pairs with engine_pending_held(). */
static void transfer_held_end(void)
{
    atomic_fetch_sub_explicit(&engine_pending_state.held, 1, memory_order_release);
    engine_pending_assist_end();
}

void transfer_ahead_end(struct transfer *transfer)
{
    atomic_store_explicit(&transfer->let_go, NULL, memory_order_relaxed);
    transfer_unprepare(transfer);
    if (!transfer->is_parted)
        transfer_held_end();
    atomic_fetch_sub_explicit(&transfers.ahead, 1, memory_order_relaxed);
    busy_lower();
}

bool transfer_part(struct transfer *transfer)
{
    if (!protect_hold_part(transfer->holds[0].hold, transfer->part_room))
        return false;
    transfer->part_room = NULL;
    transfer->hold_count = 0;
    transfer->is_parted = true;
    int64_t touched_ns = transfer_close(transfer);
    if (touched_ns > 0)
        transfer_count_touch(touched_ns, base_clock_now_ns());
    transfer_held_end();
    int64_t copies_ns = 2 * copies_cost_ns(transfer->bytes); /* there, and back */
    policy_site_learn(transfer->site, transfer->situation,
                      (struct policy_outcome){.cost_ns = transfer->hold_cost_ns + copies_ns});
    return true;
}

/* Changed inside the gate, where under MPI_THREAD_MULTIPLE others may be: it may be none in the next moment. acquire:
 * what it is for was written before. */
static transfer_let_go_fn *transfer_let_go_of(const struct transfer *transfer)
{
    return atomic_load_explicit(&transfer->let_go, memory_order_acquire);
}

/* The slot may be another's by now: whom it belongs to finds out. */
static void transfer_let_go_now(struct transfer *transfer)
{
    transfer_let_go_fn *let_go = transfer_let_go_of(transfer);
    if (let_go != NULL)
        let_go(transfer);
}

struct transfer *transfer_ahead_next(const struct transfer *before)
{
    uint32_t slot = before == NULL ? 0 : (uint32_t)(before - transfers.slots) + 1;
    for (; slot < TRANSFERS_MAX && transfer_ahead_count() != 0; slot++) {
        if (transfer_id(slot) != 0 && transfer_let_go_of(&transfers.slots[slot]) != NULL)
            return &transfers.slots[slot];
    }
    return NULL;
}

bool transfer_is_kept(const struct transfer *transfer)
{
    return atomic_load_explicit(&transfer->is_kept, memory_order_relaxed);
}

static bool transfer_is_to_serve(const struct transfer *transfer)
{
    bool is_touched = atomic_load_explicit(&transfer->touched_ns, memory_order_relaxed) > 0;
    /* In this order: a slot that was taken again meanwhile is not touched, and is_parted is being written. */
    return transfer_is_kept(transfer) || (is_touched && !transfer->is_parted);
}

void transfer_serve_ahead(void)
{
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;) {
        if (transfer_is_to_serve(one))
            transfer_let_go_now(one);
    }
}

void transfer_settle_parted(void)
{
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;) {
        if (one->is_parted)
            transfer_let_go_now(one);
    }
}

/* --- cancellation --- */

/* A thread that died where MPI calls epoll_wait() or poll(), inside the gate, would leave
 * it shut, and these waits stand in calls of threads that never call MPI. Who was asked
 * to end meanwhile does so at the next such place of its thread. True: let it again. */
static bool cancel_put_off(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    op_thread.is_cancel_put_off |= before == PTHREAD_CANCEL_ENABLE;
    return before == PTHREAD_CANCEL_ENABLE;
}

/* With PTHREAD_CANCEL_ASYNCHRONOUS the thread may end here: nothing may be left to do.
 * And it ends in pthread_setcanceltype(): glibc 2.36's pthread_setcancelstate() forgets
 * that pthread_join() is to give PTHREAD_CANCELED. */
static void cancel_let(bool was_let)
{
    int type;
    if (!was_let)
        return;
    op_thread.is_cancel_put_off = false;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_setcanceltype(type, NULL);
}

/* --- what is let go --- */

/* Who calls may be what another thread waits for inside MPI: where nothing is left to let go it must not wait for the
 * gate. */
void transfer_let_go_all(void)
{
    if (engine_pending_held() == 0 || gate_is_inside() || op_thread.is_leaving)
        return;
    bool lets_cancel = cancel_put_off();
    gate_enter();
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;)
        transfer_let_go_now(one);
    gate_leave();
    cancel_let(lets_cancel);
}

void transfer_forked_child(void)
{
    atomic_store_explicit(&transfers.ahead, 0, memory_order_relaxed);
}

/* Nothing was launched that could be waited for. False: it must be waited for. */
static bool transfer_let_go_one(uint64_t id)
{
    if (engine_pending_held() == 0)
        return false;
    bool lets_cancel = cancel_put_off();
    gate_enter();
    struct transfer *transfer = transfer_of(id);
    transfer_let_go_fn *let_go = transfer_is_pending(id) ? transfer_let_go_of(transfer) : NULL;
    bool is_kept = transfer_is_kept(transfer);
    if (let_go != NULL)
        let_go(transfer);
    gate_leave();
    cancel_let(lets_cancel);
    return let_go != NULL && !is_kept;
}

void transfer_poll_round(uint32_t round)
{
    if (touched_is_any()) /* another thread's touch; the engine stays out meanwhile */
        protect_hold_events_read();
    gate_enter();
    uint64_t own = gate_take_arithmetic();
    engine_pending_poll();
    transfer_serve_ahead();
    gate_give_back_arithmetic(own);
    gate_leave();
    /* MPI's own waits spin; after a while make way for whoever shares the core. */
    if (round > ROUNDS_BEFORE_YIELD)
        sched_yield();
}

struct transfer_wait {
    int64_t begin_ns;
    bool lets_cancel;
    uint32_t number;
};

static struct transfer_wait transfer_wait_begin(void)
{
    struct transfer_wait wait = {.begin_ns = base_clock_now_ns(), .lets_cancel = cancel_put_off()};
    wait.number = stall_wait_begin();
    return wait;
}

static void transfer_wait_end(struct transfer_wait wait)
{
    stall_wait_end(wait.number);
    record_count(RECORD_CALL_WAIT_NS, (uint64_t)(base_clock_now_ns() - wait.begin_ns));
    cancel_let(wait.lets_cancel);
}

/* A handler may jump out of it. */
static void transfer_awaits_others(bool awaits)
{
    if (awaits && !op_thread.is_awaiting_others)
        transfer_waiter_add();
    if (!awaits && op_thread.is_awaiting_others)
        transfer_waiter_remove();
    op_thread.is_awaiting_others = awaits;
}

void transfer_leave_waits(void)
{
    transfer_awaits_others(false);
    for (uint32_t left = gate_forget_waits(); left > 0; left--)
        stall_end();
    cancel_let(op_thread.is_cancel_put_off && !gate_is_inside()); /* inside: a jump within a function that MPI runs */
}

/* As long as what is asked of the op, or of all, is true. */
static void transfer_wait_while(bool (*is_awaited)(uint64_t id), uint64_t id)
{
    if (!is_awaited(id) || gate_is_inside() || op_thread.is_leaving)
        return;
    struct transfer_wait wait = transfer_wait_begin();
    for (uint32_t round = 0; is_awaited(id); round++)
        transfer_poll_round(round);
    transfer_wait_end(wait);
}

/* Not of what is held ahead: its message may wait for what this thread does next. */
static bool transfer_is_to_come(uint64_t id)
{
    const struct transfer *transfer = transfer_of(id);
    return transfer_is_pending(id) && (transfer_let_go_of(transfer) == NULL || transfer_is_kept(transfer));
}

bool transfer_wait(uint64_t id)
{
    if (!transfer_is_pending(id) || gate_is_inside() || op_thread.is_leaving)
        return !op_thread.is_leaving;
    if (!transfer_let_go_one(id))
        transfer_wait_while(transfer_is_to_come, id);
    return true;
}

/* Does a thread wait at a touch, and goes on to? One that was just let go still
 * counts until the engine has finished with its op. */
static bool transfer_is_awaited(void)
{
    enum { LOOKS = 50, PAUSE_NS = 1000000 };
    for (int i = 0; i < LOOKS && engine_pending_is_awaited(); i++)
        base_clock_pause(PAUSE_NS);
    return engine_pending_is_awaited();
}

/* Is this a signal handler that interrupted a wait for a message? (At a touch the
 * thread is in the kernel: only where it is the only one do we know.) */
static bool transfer_has_interrupted(void)
{
    bool is_alone = !host.threads_are_several(); /* handlers may run in a thread of MPI's, too */
    return gate_is_waiting() || (is_alone && (gate_is_anyone_waiting() || transfer_is_awaited()));
}

void transfer_wait_all_unless_interrupted(void)
{
    transfer_let_go_all();
    if (engine_pending() != 0 && !transfer_has_interrupted())
        transfer_wait_all();
}

static bool transfers_are_pending(uint64_t unused)
{
    (void)unused;
    return engine_pending() != 0;
}

void transfer_wait_all(void)
{
    transfer_let_go_all();
    transfer_wait_while(transfers_are_pending, 0);
}

/* A child of fork has no ops to match. */
static bool transfers_are_unmatched(uint64_t unused)
{
    (void)unused;
    return transfer_unmatched() != 0 && engine_pending() != 0;
}

void transfer_wait_unmatched(void)
{
    transfer_wait_while(transfers_are_unmatched, 0);
}

static bool transfer_unmatched_are_own(void)
{
    return atomic_load_explicit(&transfers.unmatched_starter, memory_order_relaxed) == transfer_me();
}

void transfer_wait_unmatched_of_others(void)
{
    if (!transfer_unmatched_are_own())
        transfer_wait_unmatched();
}

/* Another thread need not wait for what this one has received: what it does may be what that message waits for. */
void transfer_wait_unmatched_unless_interrupted(void)
{
    if (transfer_unmatched() != 0 && transfer_unmatched_are_own() && !transfer_has_interrupted())
        transfer_wait_unmatched();
}

/* Not of what is kept: its receiver may need this thread's next calls. */
static bool transfer_is_own(const struct transfer *transfer)
{
    return atomic_load_explicit(&transfer->starter, memory_order_relaxed) == transfer_me() &&
           !transfer_is_kept(transfer);
}

void transfer_wait_own(void)
{
    transfer_let_go_all();
    for (uint32_t slot = 0; slot < TRANSFERS_MAX && engine_pending() != 0; slot++) {
        uint64_t id = transfer_id(slot);
        if (id != 0 && transfer_is_own(&transfers.slots[slot]))
            transfer_wait(id);
    }
}

void transfer_wait_due(void)
{
    if (busy_is_shared())
        transfer_wait_own();
    else
        transfer_wait_all();
}

/* Not receives whose memory was parted: they last until the program waits for them. */
static bool transfers_are_kept(void)
{
    struct transfer *one = transfer_ahead_next(NULL);
    while (one != NULL && !transfer_is_kept(one))
        one = transfer_ahead_next(one);
    return one != NULL;
}

static bool transfers_are_kept_until(uint64_t until_ns)
{
    return transfers_are_kept() && (uint64_t)base_clock_now_ns() < until_ns;
}

static void transfer_give_up_kept(void)
{
    gate_enter();
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;) {
        if (transfer_is_kept(one)) {
            atomic_store_explicit(&one->is_kept, false, memory_order_relaxed);
            transfer_let_go_now(one);
        }
    }
    gate_leave();
}

/* What is kept may need this thread's next calls, and for as long as it is there the engine looks at it, inside MPI. */
void transfer_expect_callbacks(void)
{
    enum { PATIENCE_NS = 1000000000 };
    transfer_wait_due();
    if (busy_is_shared() || !transfers_are_kept() || gate_is_inside() || op_thread.is_leaving)
        return;
    transfer_wait_while(transfers_are_kept_until, (uint64_t)base_clock_now_ns() + PATIENCE_NS);
    transfer_give_up_kept();
}

void transfer_wait_due_unless_interrupted(void)
{
    transfer_let_go_all();
    if (engine_pending() != 0 && !transfer_has_interrupted())
        transfer_wait_due();
}

static int64_t transfer_patience_end_ns(int patience_s)
{
    enum { NS_PER_S = 1000000000 };
    return base_clock_now_ns() + (int64_t)patience_s * NS_PER_S;
}

/* The engine ends the ops: another thread may be inside MPI for as long as it likes. This one counts as if it waited at
 * a touch, or an engine that looks by request would not. id: of an op, where one is awaited. */
static bool transfer_await_others(bool (*is_awaited)(uint64_t id), uint64_t id, int64_t until_ns)
{
    enum { PAUSE_NS = 500000 };
    if (!is_awaited(id))
        return true;
    bool lets_cancel = cancel_put_off();
    transfer_awaits_others(true);
    while (is_awaited(id) && base_clock_now_ns() < until_ns)
        base_clock_pause(PAUSE_NS);
    transfer_awaits_others(false);
    cancel_let(lets_cancel);
    return !is_awaited(id);
}

static bool transfers_are_receiving(uint64_t unused)
{
    (void)unused;
    return protect_armed_is_receiving();
}

bool transfer_wait_received(int patience_s)
{
    transfer_let_go_all();
    if (transfer_has_interrupted()) {
        (void)transfer_await_others(transfers_are_receiving, 0, transfer_patience_end_ns(1));
        return true;
    }
    if (host.threads_are_several())
        transfer_wait_own();
    else
        transfer_wait_all();
    return transfer_await_others(transfers_are_receiving, 0, transfer_patience_end_ns(patience_s));
}

/* Not for what other threads begin from now on: that might never end. */
void transfer_wait_readable(void)
{
    if (engine_pending() == 0 || gate_is_inside() || op_thread.is_leaving || transfer_has_interrupted())
        return;
    transfer_wait_own();
    int64_t until_ns = transfer_patience_end_ns(TRANSFER_PATIENCE_S);
    for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
        uint64_t id = transfer_id(slot);
        if (id != 0 && !transfer_is_kept(&transfers.slots[slot]))
            (void)transfer_await_others(transfer_is_to_come, id, until_ns);
    }
}

/* Nobody is left to touch the memory but destructors, which would wait for ever. */
static void transfer_abandon(bool are_all)
{
    for (uint32_t slot = 0; slot < TRANSFERS_MAX; slot++) {
        const struct transfer *transfer = &transfers.slots[slot];
        uint32_t count = transfer_id(slot) != 0 ? transfer->hold_count : 0;
        for (uint32_t i = 0; i < count && (are_all || transfer->way == POLICY_COPY_TOUCHED); i++)
            protect_hold_abandon(transfer->holds[i].hold);
    }
}

void transfer_open_kept(void)
{
    for (uint32_t slot = 0; slot < TRANSFERS_MAX && transfer_ahead_count() != 0; slot++) {
        const struct transfer *transfer = &transfers.slots[slot];
        if (transfer_id(slot) != 0 && transfer_is_kept(transfer) && transfer->hold_count != 0)
            protect_hold_abandon(transfer->holds[0].hold);
    }
}

void transfer_let_wait(bool may_wait)
{
    op_thread.is_leaving = !may_wait;
}

static void transfer_wait_untouched(void)
{
    uint32_t round = 0;
    bool lets_cancel = cancel_put_off();
    while (engine_pending() != 0 && !transfer_is_awaited())
        transfer_poll_round(round++);
    cancel_let(lets_cancel);
}

void transfer_leave(bool may_wait)
{
    if (may_wait)
        transfer_let_go_all();
    transfer_open_kept();
    if (engine_pending() == 0)
        return;
    if (may_wait && !gate_is_inside() && !gate_is_waiting())
        transfer_wait_untouched();
    if (engine_pending() == 0)
        return;
    op_thread.is_leaving = true;
    engine_pending_freeze();
    /* Another thread, waiting at a touch, must not go on without its data. Nobody answers touches of what
     * is being sent any more: it is all there afterwards. */
    transfer_abandon(transfer_is_starter() && !host.threads_are_several());
}

void transfer_touched(uint64_t op_id, uintptr_t address)
{
    struct transfer *transfer = transfer_of(op_id);
    int64_t untouched = 0;
    if (!transfer_is_pending(op_id))
        return;
    atomic_store_explicit(&transfer->stalled_at_touch_ns, stall_total_ns(), memory_order_relaxed);
    if (atomic_load_explicit(&transfer->touched_ns, memory_order_relaxed) == 0)
        atomic_store_explicit(&transfer->touched_address, address, memory_order_relaxed);
    /* release: who sees the time sees the stall beside it. */
    if (!atomic_compare_exchange_strong_explicit(&transfer->touched_ns, &untouched, base_clock_now_ns(),
                                                 memory_order_release, memory_order_relaxed))
        return;
    stall_begin(); /* both end with the op */
    transfer_waiter_add();
}
