/* SPDX-License-Identifier: MIT */
/* Claim: an op that is touched and then never launched leaves nobody awaited behind. */
#include "op/transfer.h"

#include "../base/claim.h"
#include "engine/engine.h"
#include "op/host.h"
#include "op/observer.h"
#include "op/stall.h"

/* Nothing of them is asked for here. */
const struct host host;
const struct observer observer;

int main(void)
{
    struct transfer *transfer = transfer_take();
    claim(transfer != NULL, "there is a slot");
    uint64_t id = transfer_id(transfer->slot);
    transfer_touched(id, 0);
    claim(atomic_load(&engine_pending_state.waiters) == 1, "the touch is awaited");
    transfer_cancel(transfer);
    claim(atomic_load(&engine_pending_state.waiters) == 0, "nobody is awaited any more");
    int64_t stalled_ns = stall_total_ns();
    claim(stall_total_ns() == stalled_ns, "the stall is over");
    transfer_touched(id, 0);
    claim(atomic_load(&engine_pending_state.waiters) == 0, "a late touch is not counted");
    for (int count = 0; count < TRANSFERS_MAX; count++)
        claim(transfer_take() != NULL, "the slot is free again");
    claim(transfer_take() == NULL, "all are in use");
    return 0;
}
