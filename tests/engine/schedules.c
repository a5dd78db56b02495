/* SPDX-License-Identifier: MIT */
/* Claim: when much has arrived for an assisted operation, MPI progresses once more after all of it was taken in: the
 * schedule of a nonblocking collective begins its next round only then, and no event tells of that. (Seen with Open
 * MPI 4.1's MPI_Iallreduce: each operation lost the 20 ms until the engine looks anyway.) */
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/sockets.h"

enum { ROUNDS = 20, MUCH_BYTES = 64 << 10, SETTLED_US = 5000, PATIENCE_US = 500000, STEP_US = 200, SOON_US = 10000 };

static int ends[2];
static char sent[MUCH_BYTES], received[MUCH_BYTES];
static _Atomic int rounds_begun;
static _Atomic int taken_bytes; /* of this round */

/* Plays MPI: takes in what there is, and begins the next round in the call after. */
static void progress_poll(void)
{
    ssize_t length = recv(ends[1], received, sizeof received, MSG_DONTWAIT);
    if (length > 0)
        atomic_fetch_add(&taken_bytes, (int)length);
    else if (atomic_load(&taken_bytes) == MUCH_BYTES) {
        atomic_store(&taken_bytes, 0);
        atomic_fetch_add(&rounds_begun, 1);
    }
}

/* How long the round took to begin. */
static int round_begin_us(int number)
{
    int64_t begin_ns = base_clock_now_ns();
    while (atomic_load(&rounds_begun) != number && base_clock_now_ns() - begin_ns < PATIENCE_US * INT64_C(1000))
        usleep(STEP_US);
    claim(atomic_load(&rounds_begun) == number, "the next round begins by itself");
    return (int)((base_clock_now_ns() - begin_ns) / 1000);
}

int main(void)
{
    struct engine_hooks hooks = {.touch_descriptor = -1, .progress = progress_poll};
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets");
    engine_sockets_add(ends[1]);
    engine_configure(OPTION_PROGRESS_EVENT, false, hooks);
    gate_share(false);
    claim(engine_start(), "there is a thread for the engine");
    gate_enter();
    engine_pending_assist_begin();
    gate_leave();
    usleep(SETTLED_US);
    int soon = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        claim(send(ends[0], sent, sizeof sent, 0) == sizeof sent, "a message that fits");
        soon += round_begin_us(round) < SOON_US;
    }
    claim(soon > ROUNDS / 2, "most rounds begin before an engine without events looks");
    gate_enter();
    engine_pending_assist_end();
    gate_leave();
    engine_stop();
    return 0;
}
