/* SPDX-License-Identifier: MIT */
/* Claim: the time that ops are under way at once is counted once in the time that the program ran on beside them. */
#include "op/transfer.h"

#include <time.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "op/host.h"
#include "op/observer.h"
#include "record/record.h"

const struct host host;
const struct observer observer;

enum { OPS = 8, WORK_MS = 5, NS_PER_MS = 1000000 };

static uint64_t counted(enum record_counter counter)
{
    return atomic_load(&record.counters[counter]);
}

int main(void)
{
    struct transfer *transfers[OPS];
    int64_t begin_ns = base_clock_now_ns();
    for (int i = 0; i < OPS; i++) {
        transfers[i] = transfer_take();
        transfer_launch(transfers[i]);
    }
    nanosleep(&(struct timespec){.tv_nsec = WORK_MS * NS_PER_MS}, NULL);
    for (int i = 0; i < OPS; i++)
        transfer_end(transfers[i]);
    uint64_t passed_ns = (uint64_t)(base_clock_now_ns() - begin_ns);
    claim(counted(RECORD_OVERLAPPED_NS) >= OPS * WORK_MS * NS_PER_MS, "each op has its own time");
    claim(counted(RECORD_BESIDE_NS) >= WORK_MS * NS_PER_MS, "they ran beside the program");
    claim(counted(RECORD_BESIDE_NS) <= passed_ns, "for no longer than the program ran");
    return 0;
}
