/* SPDX-License-Identifier: MIT */
/* Claim: a program is never slower: whatever the pattern of its calls, 10,000 of them cost at most 1 % more than
 * passing them all, also where a hold costs more than the transfer itself. */
#include "model.h"

enum { CALLS = 10000, TRANSFER_NS = 20000, KINDS = 4 };
enum { US = 1000, MS = 1000000 };

static const int64_t holds_ns[] = {TRANSFER_NS / 50, TRANSFER_NS / 4, TRANSFER_NS, 3 * TRANSFER_NS};

typedef void pattern_fn(struct model_call *call, long number);

static void pattern_touched_at_once(struct model_call *call, long number)
{
    (void)number;
    call->away_ns = US;
}

/* Long computations, but the buffer is touched before them. */
static void pattern_misleading(struct model_call *call, long number)
{
    call->away_ns = number / 100 % 2 == 0 ? US : 50 * MS;
}

/* Every length of computation, fresh buffers, tags that never come back. */
static void pattern_random(struct model_call *call, long number)
{
    call->away_ns = (int64_t)US << model_random() % 22;
    call->buffer = (const void *)(uintptr_t)(model_random() << 12);
    call->tag = (int)number;
}

/* Just enough slack to pay for a hold in one call of eight. */
static void pattern_scarce(struct model_call *call, long number)
{
    call->slack_ns = number % 8 == 0 ? 2 * call->hold_ns : 0;
    call->away_ns = US + call->slack_ns;
}

/* Gains until the policy believes in them, and then none for as long as it does. */
static void pattern_adversary(struct model_call *call, long number)
{
    static bool was_deferred;
    static long deferred;
    struct policy_site *site = model_site((uintptr_t)call->tag);
    call->tag = 0;
    was_deferred = policy_site_allows(site, policy_site_situation(site, NULL, 0));
    deferred = was_deferred ? deferred + 1 : 0;
    call->slack_ns = deferred % 30 == 1 && number > 100 ? 2 * call->hold_ns : 0;
    call->away_ns = number % 2 == 0 ? US : MS;
}

/* The program runs on during all of the transfer, but the engine has the core. */
static void pattern_engine(struct model_call *call, long number)
{
    (void)number;
    call->slack_ns = call->transfer_ns;
    call->away_ns = MS;
    call->engine_ns = call->transfer_ns;
}

/* One long wait in four, and holds whose price varies: a look is lent at the high price. That it could be saved up for
 * at the low one must not make it be lent again. */
static void pattern_rare_long(struct model_call *call, long number)
{
    bool is_long = number % 4 == 0;
    call->transfer_ns = is_long ? 2 * TRANSFER_NS : 10;
    call->hold_ns = is_long ? call->transfer_ns / 40 : 10;
    call->away_ns = US;
}

static const struct {
    const char *name;
    pattern_fn *fill;
} patterns[] = {
    {"touched at once", pattern_touched_at_once},
    {"misleading", pattern_misleading},
    {"random", pattern_random},
    {"scarce", pattern_scarce},
    {"adversary", pattern_adversary},
    {"engine", pattern_engine},
    {"rare and long", pattern_rare_long},
};

enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

static void harmless_check(uintptr_t number, pattern_fn *fill, const char *name, int64_t hold_ns)
{
    struct policy_site *site = model_site(number);
    struct model_totals totals = {0};
    for (long i = 0; i < CALLS; i++) {
        struct model_call call = {.transfer_ns = TRANSFER_NS, .hold_ns = hold_ns, .tag = (int)number};
        fill(&call, i);
        model_run(site, &call, &totals);
    }
    double harm = 100.0 * (double)(totals.spent_ns - totals.transfer_ns) / (double)totals.transfer_ns;
    printf("%s, a hold of %.2f transfers: %ld deferred, %+.2f %%\n", name, (double)hold_ns / TRANSFER_NS,
           totals.deferred, harm);
    claim(harm <= 1, "it costs what passing costs");
}

int main(void)
{
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    for (uintptr_t i = 0; i < PATTERNS; i++)
        for (uintptr_t kind = 0; kind < KINDS; kind++)
            harmless_check(100 + i * KINDS + kind, patterns[i].fill, patterns[i].name, holds_ns[kind]);
    return 0;
}
