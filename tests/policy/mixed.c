/* SPDX-License-Identifier: MIT */
/* Claim: a site of mixed calls keeps what pays: where 70, 50 or 30 % of its calls gain 200 times what a hold costs,
 * at least 95 % of the gain is kept, whether the calls can be told apart or not. Callers behind one wrapper are told
 * apart by what is free to see. */
#include "model.h"

enum { CALLS = 100000, HOLD_NS = 50000, GAIN_NS = 200 * HOLD_NS, WITHOUT_NS = 2 * HOLD_NS };

/* transfer_ns: of a call without gain, which may be that of a message that had arrived. */
static void mixed_random(uintptr_t number, int percent, int64_t transfer_ns)
{
    struct policy_site *site = model_site(number);
    struct model_totals totals = {0};
    for (int i = 0; i < CALLS; i++) {
        bool is_good = model_happens(percent);
        struct model_call call = {.transfer_ns = is_good ? GAIN_NS : transfer_ns, .hold_ns = HOLD_NS};
        call.slack_ns = is_good ? GAIN_NS : 0;
        model_run(site, &call, &totals);
    }
    printf("%d %% good: %.1f %% of the gain\n", percent, 100.0 * (double)totals.gained_ns / (double)totals.to_gain_ns);
    claim(totals.gained_ns * 100 >= totals.to_gain_ns * 95, "what pays is kept");
}

/* Holds that cost a good part of the transfer: two callers of one wrapper in turn, of whom one gains. `is_seen`: the
 * time until the next call tells them apart; else their buffers do. */
static void mixed_wrapper(uintptr_t number, bool is_seen)
{
    enum { ONE = 0x10000000, OTHER = 0x20000000 };
    struct policy_site *site = model_site(number);
    struct model_totals good = {0};
    struct model_totals bad = {0};
    for (int i = 0; i < CALLS; i++) {
        bool is_good = is_seen ? i % 2 == 0 : model_happens(50);
        struct model_call call = {.transfer_ns = 10 * HOLD_NS, .hold_ns = HOLD_NS, .slack_ns = is_good ? GAIN_NS : 0};
        call.away_ns = is_seen ? call.slack_ns : 0;
        call.buffer = (const void *)(uintptr_t)(is_seen || is_good ? ONE : OTHER);
        model_run(site, &call, is_good ? &good : &bad);
    }
    printf("behind a wrapper: %.1f %% of the gain, %.2f %% of the other caller's time\n",
           100.0 * (double)good.gained_ns / (double)good.to_gain_ns,
           100.0 * (double)(bad.spent_ns - bad.transfer_ns) / (double)bad.transfer_ns);
    claim(good.gained_ns * 100 >= good.to_gain_ns * 95, "one caller's gain is kept");
    claim((bad.spent_ns - bad.transfer_ns) * 100 <= bad.transfer_ns, "the other pays next to nothing");
}

int main(void)
{
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    const int percents[] = {70, 50, 30};
    for (uintptr_t i = 0; i < 3; i++) {
        mixed_random(i, percents[i], GAIN_NS);
        mixed_random(8 + i, percents[i], WITHOUT_NS);
    }
    mixed_wrapper(16, true);
    mixed_wrapper(17, false);
    return 0;
}
