/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_side.h"

#include "base/pages.h"
#include "op/arming.h"
#include "op/begin.h"
#include "op/neighbours.h"

/* How far a hold's bytes have come, or gone, from side->block on. */
static int64_t receive_come(const struct collective_work *work, uint32_t hold)
{
    return work->blocks != NULL ? collective_parts_come(work->blocks, &work->cut, hold, work->ended)
                                : (int64_t)(hold * work->receive_stride_bytes + collective_work_come(work));
}

/* Of the send. */
static int64_t send_gone(const struct collective_work *work, uint32_t hold)
{
    (void)hold; /* there is one */
    return (int64_t)(work->blocks != NULL ? collective_parts_gone(work->blocks, &work->cut, work->ended)
                                          : collective_work_come(work));
}

typedef int64_t side_end_fn(const struct collective_work *work, uint32_t hold);

static void side_release(struct transfer *transfer, const struct collective_side *side,
                         const struct collective_work *work, side_end_fn *end_of)
{
    for (uint32_t i = 0; side->block != 0 && i < side->holds; i++) {
        uintptr_t end = side->block + (uintptr_t)end_of(work, i);
        transfer_release_until(transfer, side->first + i, end & ~(base_page_bytes() - 1));
    }
}

void collective_side_release_receive(struct transfer *transfer, const struct collective_side *side,
                                     const struct collective_work *work)
{
    side_release(transfer, side, work, receive_come);
}

void collective_side_release_send(struct transfer *transfer, const struct collective_side *side,
                                  const struct collective_work *work)
{
    side_release(transfer, side, work, send_gone);
}

/* What lies on two blocks' border belongs to the hold before it: that block's end comes last. held: all of it. */
static enum reason blocks_hold(struct transfer *transfer, const struct collective_call *call, struct range held,
                               struct collective_side *side)
{
    struct range all = call->receive.range;
    uint32_t blocks = (uint32_t)call->receive_blocks;
    bool are_apart = blocks + 1 < TRANSFER_HOLDS_MAX && call->receive_stride_bytes >= base_page_bytes();
    uint32_t holds = are_apart ? blocks : 1;
    *side = (struct collective_side){.first = transfer->hold_count, .holds = holds, .block = are_apart ? all.low : 0};
    uintptr_t low = held.low;
    enum reason reason = REASON_NONE;
    for (uint32_t i = 1; reason == REASON_NONE && i <= holds; i++) {
        struct range until = {all.low, all.low + i * call->receive_stride_bytes};
        uintptr_t high = i == holds ? held.high : base_pages_of(until).high;
        reason = transfer_hold(transfer, HOLD_NO_ACCESS, (struct range){low, high});
        low = high;
    }
    return reason;
}

/* The same for blocks that differ in length. */
static enum reason parts_hold(struct transfer *transfer, const struct collective_call *call,
                              struct collective_parts *parts, struct collective_side *side)
{
    uintptr_t base = (uintptr_t)call->receive.buffer;
    uintptr_t low = call->receive.range.low;
    enum reason reason = REASON_NONE;
    collective_parts_share(parts, base_page_bytes());
    *side = (struct collective_side){.first = transfer->hold_count, .holds = parts->holds, .block = base};
    for (uint32_t i = 1; reason == REASON_NONE && i <= parts->holds; i++) {
        uintptr_t high = call->receive.range.high;
        if (i < parts->holds)
            high = base_pages_of((struct range){low, base + (uintptr_t)collective_parts_begin(parts, i)}).high;
        reason = transfer_hold(transfer, HOLD_NO_ACCESS, (struct range){low, high});
        low = high;
    }
    return reason;
}

enum reason collective_side_hold_receive(struct transfer *transfer, const struct collective_call *call,
                                         struct collective_parts *parts, struct range held,
                                         struct collective_side *side)
{
    if (call->receive_blocks == 0)
        return REASON_NONE;
    arming_begin();
    enum reason reason = neighbours_check(held, false, false);
    if (reason == REASON_NONE)
        reason = parts != NULL ? parts_hold(transfer, call, parts, side) : blocks_hold(transfer, call, held, side);
    arming_end();
    return reason;
}

struct range collective_side_between_edges(const struct collective_call *call, const struct collective_work *work)
{
    struct range whole = base_pages_within(call->receive.range);
    uint64_t last_block_bytes = (uint64_t)(call->receive_blocks - 1) * call->receive_stride_bytes;
    uintptr_t first_end = call->receive.range.low + collective_work_end(work, 1);
    uintptr_t last_begin = call->receive.range.low + last_block_bytes + collective_work_end(work, work->cut.pieces - 1);
    struct range between = base_pages_of((struct range){first_end, last_begin});
    return base_range_covers(whole, between) ? between : (struct range){0, 0};
}

static enum reason side_hold(struct transfer *transfer, struct range bytes, struct range held, enum hold_kind kind,
                             bool may_hide_gaps)
{
    struct begin_memory memory = {.kind = kind, .bytes = bytes, .alone = held, .may_hide_gaps = may_hide_gaps};
    return begin_hold(transfer, &memory);
}

enum reason collective_side_hold_root(struct transfer *transfer, const struct collective_call *call,
                                      struct collective_side *side)
{
    const struct message *sent = &call->send;
    bool moves = sent->reserved_bytes != 0;
    struct range held = moves ? base_pages_within(sent->range) : sent->range;
    if (call->function != COLLECTIVE_BCAST || call->send_blocks == 0 || sent->is_copied)
        return REASON_NONE;
    if (!message_pages_are_free(base_pages_of(held)))
        return REASON_MEMORY_NEIGHBOURS;
    *side = (struct collective_side){.first = transfer->hold_count, .holds = 1, .block = moves ? 0 : sent->range.low};
    transfer->reserved_bytes = sent->reserved_bytes;
    transfer->way = moves ? POLICY_COPY_TOUCHED : POLICY_HOLD;
    return side_hold(transfer, sent->range, held, moves ? HOLD_COPY_ON_TOUCH : HOLD_NO_ACCESS, false);
}

enum reason collective_side_hold_send(struct transfer *transfer, const struct collective_call *call,
                                      struct collective_side *side)
{
    if (call->function == COLLECTIVE_BCAST || call->send_blocks == 0 || call->send.is_copied)
        return REASON_NONE;
    *side = (struct collective_side){.first = transfer->hold_count, .holds = 1};
    if (call->send_blocks == 1)
        side->block = call->send.range.low;
    return side_hold(transfer, call->send.range, call->send.range, HOLD_NO_WRITE, call->is_given);
}
