/* SPDX-License-Identifier: MIT */
/* Claim: a pause of a stream does not make data gather for longer. The sender may have had nothing to send since data
 * gathered for too long, and then would have nothing again. */
#include <unistd.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/pace.h"
#include "engine/pending.h"
#include "engine/sockets.h"

/* The op has lasted long enough for data to gather for as long as they like. */
enum { OP_US = 30000, FLOW_US = 500, PAUSE_US = 1900, ROOM_BYTES = 64 << 10 };

static bool test(struct engine_pending_op *op)
{
    (void)op;
    return false;
}

/* How long a wake-up after this time, which finds as much as the sockets take in, lets gather. */
static int64_t flow_ns(unsigned after_us)
{
    usleep(after_us);
    engine_pace_slept(base_clock_now_ns(), (struct engine_sockets_waiting){ROOM_BYTES, ROOM_BYTES});
    return engine_pace_rest_ns();
}

int main(void)
{
    static struct engine_pending_op op = {.test = test};
    engine_configure(OPTION_PROGRESS_EVENT, false, (struct engine_hooks){.touch_descriptor = -1});
    gate_share(false);
    gate_enter();
    engine_pending_add(&op);
    engine_pace_start();
    flow_ns(OP_US);
    int64_t begin_ns = base_clock_now_ns();
    int64_t flowing_ns = flow_ns(FLOW_US);
    int64_t took_ns = base_clock_now_ns() - begin_ns;
    claim(flowing_ns > 0 && flowing_ns <= took_ns + took_ns / 8, "data gather for as long as they took to come");
    int64_t dry_ns = flow_ns(PAUSE_US);
    claim(dry_ns <= flowing_ns + flowing_ns / 4, "and hardly longer after a pause");
    return 0;
}
