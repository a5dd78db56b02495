/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE a thread may look at what is held ahead while another one ends it. */
#include "op/transfer.h"

#include <pthread.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "engine/gate.h"
#include "op/host.h"
#include "op/observer.h"

const struct host host;
const struct observer observer;

static _Atomic uint32_t looks;
static _Atomic bool is_over;

static void look(struct transfer *transfer)
{
    (void)transfer;
    atomic_fetch_add(&looks, 1);
}

static void *serve(void *unused)
{
    while (!atomic_load(&is_over)) {
        gate_enter();
        transfer_serve_ahead();
        gate_leave();
    }
    return unused;
}

static void begin_and_end(void)
{
    gate_enter();
    struct transfer *transfer = transfer_take();
    claim(transfer != NULL, "there is a slot");
    transfer_keep_begin(transfer, look);
    transfer_ahead_end(transfer);
    transfer_cancel(transfer);
    gate_leave();
}

int main(void)
{
    enum { LENGTH_NS = 2000000000 };
    pthread_t thread;
    gate_share(true);
    claim(pthread_create(&thread, NULL, serve, NULL) == 0, "a thread");
    int64_t end_ns = base_clock_now_ns() + LENGTH_NS;
    while (base_clock_now_ns() < end_ns)
        begin_and_end();
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    claim(transfer_ahead_count() == 0, "all have ended");
    return 0;
}
