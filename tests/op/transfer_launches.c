/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE threads may launch ops at once: none is lost to those that are counted as under way.
 */
#include "op/transfer.h"

#include <pthread.h>
#include <time.h>

#include "../base/claim.h"
#include "engine/gate.h"
#include "op/host.h"
#include "op/observer.h"
#include "record/record.h"

const struct host host;
const struct observer observer;

enum { THREADS = 2, ROUNDS = 300000, WORK_MS = 5, NS_PER_MS = 1000000 };

static bool op_test(struct engine_pending_op *op)
{
    transfer_end((struct transfer *)op);
    return true;
}

static void launch(void)
{
    struct transfer *transfer = transfer_take();
    claim(transfer != NULL, "there is a slot");
    transfer->op.test = op_test;
    transfer->op.is_schedule = false;
    transfer_launch(transfer);
}

static void poll_until_over(void)
{
    while (engine_pending() > 1)
        engine_pending_poll();
}

static void *launch_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        gate_enter();
        launch();
        poll_until_over();
        gate_leave();
    }
    return unused;
}

static uint64_t beside_ns(void)
{
    return atomic_load(&record.counters[RECORD_BESIDE_NS]);
}

int main(void)
{
    pthread_t threads[THREADS];
    gate_share(true);
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, launch_often, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (engine_pending() != 0)
        engine_pending_poll();
    uint64_t before_ns = beside_ns();
    launch();
    nanosleep(&(struct timespec){.tv_nsec = WORK_MS * NS_PER_MS}, NULL);
    engine_pending_poll();
    claim(beside_ns() - before_ns >= WORK_MS * NS_PER_MS, "the last op is the only one");
    return 0;
}
