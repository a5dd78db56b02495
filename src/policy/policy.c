/* SPDX-License-Identifier: MIT */
#include "policy/policy.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/hash.h"
#include "policy/joint.h"
#include "policy/trial.h"

enum { SITE_BITS = 11, SITES = 1 << SITE_BITS, PROBES = 16 };
/* An op pays when it brings twice its cost: what the clock does not show (a fault, two thread
 * switches, colder caches) costs about as much again. */
enum { GAIN_FACTOR = 2 };
/* Sums forget a part with each op, and no op counts for more than GAIN_MOST times its cost: so
 * the call at which a phase begins does not by itself make the calls before it look worthwhile,
 * but one in thirty does. Means of what calls take follow faster. */
enum { SUM_MEMORY = 64, GAIN_MOST = 64, MEAN_MEMORY = 4 };
/* A hold below a hundredth of its transfer is not worth asking about. */
enum { CHEAP_PART = 100 };
/* Where nothing is expected, one part in ALLOWANCE_PART of the time that the site's calls take may
 * be spent on looking what it would bring, after LOOKS_FIRST looks that are free. */
enum { ALLOWANCE_PART = 500, LOOKS_FIRST = 3 };
/* Where the site's calls begin to take so many times a hold, which they did not before, the program may have changed
 * phase: the next look is lent. None is lent again before the calls have earned LENT_FACTOR times its price, whatever
 * was spent meanwhile: so what is lent adds a quarter to the allowance at most. */
enum { LENT_PART = 32, LENT_FACTOR = 4 };
/* An engine that nothing wakes looks late, which makes an op long, not useful: it brings no more than a call that waits
 * takes. Where that could change the answer, below DOUBT_PART times the cost, one call waits after OPS_FIRST ops, and
 * one in OPS_BETWEEN. */
enum { DOUBT_PART = 32, OPS_FIRST = 3, OPS_BETWEEN = 32, PASSED_MEMORY = 8 };
/* A receive's start that takes longer brings the data: to wake the engine for it takes less. */
enum { LONG_START_NS = 50000 };
/* Slower than any memory: copies over shared memory take 0.1 ns for each byte, twice that on a busy core. */
enum { COPIED_BYTES_PER_NS = 1 };
/* Times away: below 1 us, and then by factors of 8 up to 0.26 s. */
enum { AWAYS = 8, CALLER_BITS = 2, SITUATIONS = AWAYS << CALLER_BITS };
/* Below COPY_TOUCHED_LEAST_NS all is copied as fast as pages are moved to and fro. */
enum { SENDS_IN_A_ROW = 64, COPY_TOUCHED_LEAST_NS = 50000 };
/* So often all is copied at once, where copies on touch did not help: they cost a wait to try. */
enum { ROWS_WITHOUT_TOUCHED = 16 };

/* Decayed sums; as old as each other, so that one may be compared with the other. */
struct prices {
    _Atomic int64_t gained_ns;
    _Atomic int64_t cost_ns;
    _Atomic int64_t passed_ns; /* mean time of a call that waited; 0: there was none */
    _Atomic uint32_t late_ops; /* since then */
};

/* key: 0 free, claimed once by CAS. The rest: hints, relaxed, by any thread. */
struct policy_site {
    _Atomic uintptr_t key;
    _Atomic int64_t hold_ns;      /* mean cost of an op; 0: there was none */
    _Atomic int64_t transfer_ns;  /* mean time of an op, or of a passed call */
    _Atomic int64_t start_ns;     /* mean time that MPI took to start a receive; 0: none was started */
    _Atomic int64_t allowance_ns; /* what looks may cost */
    _Atomic int64_t lent_ns;      /* still to be earned before a look is lent again */
    _Atomic uint32_t away;        /* class of the time away after the last call */
    _Atomic uint32_t way;         /* enum policy_send, of the next sends */
    _Atomic uint32_t sends_left;  /* sends still to go that way */
    _Atomic uint32_t untouched;   /* rows of sends still without POLICY_COPY_TOUCHED */
    struct prices prices[SITUATIONS];
    /* Whatever the time away: it may lie where two classes meet. */
    struct trial_subject trials[1 << CALLER_BITS];
    struct joint_subject joints[1 << CALLER_BITS];
};

/* is_fixed and send_buffers: written once, at start. All zero until then: nothing of it lies in the file. */
static struct {
    bool is_fixed; /* all ops pay */
    enum option_send_buffers send_buffers;
    struct trial trial;
    struct joint joint;
    struct policy_site sites[SITES];
} policy;

_Static_assert(OPTION_SEND_BUFFERS_AUTO == 0, "what is chosen until policy_configure()");

void policy_configure(bool learns, enum option_send_buffers send_buffers)
{
    policy.is_fixed = !learns;
    policy.send_buffers = send_buffers;
}

void policy_start(int64_t now_ns)
{
    joint_start(&policy.joint, now_ns);
}

static bool site_is_or_becomes(struct policy_site *site, uintptr_t key)
{
    uintptr_t known = atomic_load_explicit(&site->key, memory_order_relaxed);
    if (known == 0)
        /* After a lost race `known` holds the winner's key. */
        atomic_compare_exchange_strong_explicit(&site->key, &known, key, memory_order_relaxed, memory_order_relaxed);
    return known == 0 || known == key;
}

/* 0 to 22: sizes that are told apart differ by a factor of 8. */
static uintptr_t size_class(uint64_t bytes)
{
    enum { BITS_OF_ALL = 64, BITS_PER_CLASS = 3 };
    return bytes == 0 ? 0 : (uintptr_t)(BITS_OF_ALL - __builtin_clzll(bytes) + BITS_PER_CLASS - 1) / BITS_PER_CLASS;
}

struct policy_site *policy_site_find(const void *return_address, enum policy_direction direction, uint64_t bytes)
{
    /* Code lies below 2^56 on both processors. */
    uintptr_t key = ((uintptr_t)return_address << 2) | (uintptr_t)direction | (size_class(bytes) << 58);
    uint32_t start = (uint32_t)base_hash(key, SITE_BITS);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct policy_site *site = &policy.sites[(start + i) % SITES];
        if (site_is_or_becomes(site, key))
            return site;
    }
    return NULL;
}

const void *policy_site_place(const struct policy_site *site)
{
    enum { CODE_BITS = 56 };
    uintptr_t key = site == NULL ? 0 : atomic_load_explicit(&site->key, memory_order_relaxed);
    return (const void *)((key >> 2) & (((uintptr_t)1 << CODE_BITS) - 1));
}

static int64_t number_read(const _Atomic int64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void number_write(_Atomic int64_t *number, int64_t value)
{
    atomic_store_explicit(number, value, memory_order_relaxed);
}

/* Of two callers behind one wrapper: do they hand on the same memory? */
static uint32_t caller_class(const void *buffer, int tag)
{
    enum { PAGE_BITS = 12, TAG_BITS = 32 };
    uint64_t caller = ((uint64_t)(uintptr_t)buffer >> PAGE_BITS) ^ ((uint64_t)(uint32_t)tag << TAG_BITS);
    return (uint32_t)base_hash(caller, CALLER_BITS);
}

uint32_t policy_site_situation(const struct policy_site *site, const void *buffer, int tag)
{
    if (site == NULL)
        return 0;
    uint32_t away = atomic_load_explicit(&site->away, memory_order_relaxed);
    return (away << CALLER_BITS) | caller_class(buffer, tag);
}

static bool prices_pay(const struct prices *prices)
{
    return number_read(&prices->gained_ns) >= GAIN_FACTOR * number_read(&prices->cost_ns);
}

static bool site_is_cheap(const struct policy_site *site)
{
    return number_read(&site->hold_ns) * CHEAP_PART <= number_read(&site->transfer_ns);
}

static int64_t site_look_ns(const struct policy_site *site)
{
    return GAIN_FACTOR * number_read(&site->hold_ns);
}

/* Where no op's cost was seen there is no price to look for: so it is with nonblocking operations whose slack is seen
 * without help. */
static bool site_may_look(const struct policy_site *site)
{
    int64_t look_ns = site_look_ns(site);
    return look_ns != 0 && number_read(&site->allowance_ns) >= look_ns;
}

static bool prices_are_doubtful(const struct prices *prices)
{
    uint32_t most = number_read(&prices->passed_ns) == 0 ? OPS_FIRST : OPS_BETWEEN;
    bool is_due = atomic_load_explicit(&prices->late_ops, memory_order_relaxed) >= most;
    return is_due && number_read(&prices->gained_ns) < DOUBT_PART * number_read(&prices->cost_ns);
}

/* Shall this call wait, to see what that takes? */
static bool prices_want_pass(struct prices *prices)
{
    bool is_doubtful = prices_are_doubtful(prices);
    if (is_doubtful)
        atomic_store_explicit(&prices->late_ops, 0, memory_order_relaxed);
    return is_doubtful;
}

bool policy_site_helps(struct policy_site *site, uint32_t situation)
{
    if (policy.is_fixed || site == NULL)
        return true;
    if (!prices_pay(&site->prices[situation]))
        return site_may_look(site);
    return !prices_want_pass(&site->prices[situation]);
}

bool policy_site_allows(struct policy_site *site, uint32_t situation)
{
    return (site != NULL && site_is_cheap(site)) || policy_site_helps(site, situation);
}

bool policy_site_saw_late_peer(const struct policy_site *site, uint32_t situation, uint64_t bytes)
{
    if (policy.is_fixed || site == NULL)
        return true;
    return number_read(&site->prices[situation].passed_ns) > (int64_t)(bytes / COPIED_BYTES_PER_NS);
}

void policy_saw_away(const struct policy_away *away)
{
    for (int i = 0; i < POLICY_HALVES; i++)
        policy_site_saw_away(away->sites[i], away->away_ns);
}

/* Of calls that do not pay no trial is made where a hold costs more than so much of its transfer; calls that do pay are
 * not doubtful where they bring so many times their cost: the engine delays the peer by about as much as the cost. */
enum { TRIAL_PART = 8, LITTLE_FACTOR = 16, MUCH_FACTOR = 2 * LITTLE_FACTOR };

static int64_t site_worth_ns(const struct policy_site *site)
{
    int64_t hold_ns = number_read(&site->hold_ns);
    int64_t transfer_ns = number_read(&site->transfer_ns);
    return hold_ns != 0 && hold_ns * TRIAL_PART <= transfer_ns ? transfer_ns : 0;
}

static bool prices_pay_little(const struct prices *prices)
{
    return prices_pay(prices) && number_read(&prices->gained_ns) < LITTLE_FACTOR * number_read(&prices->cost_ns);
}

/* All ranks together may be slower, although such a call seems to bring something. */
static bool call_is_doubtful(const struct policy_site *site, uint32_t situation, bool pays)
{
    return !pays || (!site_is_cheap(site) && prices_pay_little(&site->prices[situation]));
}

static bool call_pays_jointly(const struct policy_call *call, struct policy_site *site, uint32_t situation,
                              bool is_early, bool pays)
{
    const struct joint_call asked = {
        .subject = &site->joints[situation % (1 << CALLER_BITS)],
        .thread = call->thread,
        .now_ns = call->now_ns,
        .worth_ns = number_read(&site->transfer_ns),
        .away = situation >> CALLER_BITS,
        .is_early = is_early,
        .is_doubtful = is_early && call_is_doubtful(site, situation, pays),
    };
    return joint_answer(&policy.joint, &asked);
}

/* What the prices say, or the program's own speed. A joint trial and another would disturb each other. */
static bool call_pays(const struct policy_call *call, struct policy_site *site, uint32_t situation)
{
    if (policy.is_fixed || site == NULL)
        return policy_site_allows(site, situation);
    const struct trial_call tried = {
        .subject = &site->trials[situation % (1 << CALLER_BITS)],
        .thread = call->thread,
        .now_ns = call->now_ns,
        .worth_ns = site_worth_ns(site),
        .pays = policy_site_allows(site, situation),
    };
    bool is_early =
        joint_is_running(&policy.joint, call->now_ns) ? trial_knows(&tried) : trial_answer(&policy.trial, &tried);
    return call_pays_jointly(call, site, situation, is_early, tried.pays);
}

/* On a core that the engine and the program share it would take the same time there. */
static bool call_starts_apart(const struct policy_call *call, const struct policy_site *site)
{
    return site != NULL && number_read(&site->start_ns) > LONG_START_NS && !call->is_engine_dear();
}

struct policy_answer policy_ask(const struct policy_call *call)
{
    policy_saw_away(&call->away);
    struct policy_site *site = policy_site_find(call->place, call->direction, call->bytes);
    uint32_t situation = policy_site_situation(site, call->buffer, call->tag);
    bool has_waits = policy_site_saw_late_peer(site, situation, call->bytes) || !call->is_engine_dear();
    bool is_allowed = has_waits && call_pays(call, site, situation);
    return (struct policy_answer){site, situation, is_allowed, is_allowed && call_starts_apart(call, site)};
}

void policy_site_learn_wait(struct policy_site *site, enum policy_send way, int64_t waited_ns, int64_t copy_ns)
{
    if (site == NULL || waited_ns <= GAIN_FACTOR * copy_ns)
        return;
    uint32_t untouched = atomic_load_explicit(&site->untouched, memory_order_relaxed);
    bool is_tried = way == POLICY_HOLD && copy_ns >= COPY_TOUCHED_LEAST_NS && untouched == 0;
    if (way == POLICY_COPY_TOUCHED)
        atomic_store_explicit(&site->untouched, ROWS_WITHOUT_TOUCHED, memory_order_relaxed);
    else if (untouched != 0)
        atomic_store_explicit(&site->untouched, untouched - 1, memory_order_relaxed);
    atomic_store_explicit(&site->way, is_tried ? POLICY_COPY_TOUCHED : POLICY_COPY, memory_order_relaxed);
    atomic_store_explicit(&site->sends_left, SENDS_IN_A_ROW, memory_order_relaxed);
}

static enum policy_send site_send_learnt(struct policy_site *site)
{
    uint32_t left = site == NULL ? 0 : atomic_load_explicit(&site->sends_left, memory_order_relaxed);
    if (policy.is_fixed || left == 0)
        return POLICY_HOLD;
    atomic_store_explicit(&site->sends_left, left - 1, memory_order_relaxed);
    return (enum policy_send)atomic_load_explicit(&site->way, memory_order_relaxed);
}

enum policy_send policy_site_send(struct policy_site *site)
{
    switch (policy.send_buffers) {
    case OPTION_SEND_BUFFERS_HOLD:
        return POLICY_HOLD;
    case OPTION_SEND_BUFFERS_COPY_TOUCHED:
        return POLICY_COPY_TOUCHED;
    case OPTION_SEND_BUFFERS_COPY:
        return POLICY_COPY;
    default:
        return site_send_learnt(site);
    }
}

static void mean_add(_Atomic int64_t *mean, int64_t value, int64_t memory)
{
    int64_t before = number_read(mean);
    number_write(mean, before == 0 ? value : before + (value - before) / memory);
}

void policy_site_saw_start(struct policy_site *site, int64_t start_ns)
{
    if (site != NULL)
        mean_add(&site->start_ns, start_ns, MEAN_MEMORY);
}

static void sum_add(_Atomic int64_t *sum, int64_t value)
{
    int64_t before = number_read(sum);
    number_write(sum, before - before / SUM_MEMORY + value);
}

static void prices_add(struct prices *prices, int64_t gained_ns, int64_t cost_ns)
{
    int64_t most_ns = GAIN_MOST * cost_ns;
    sum_add(&prices->gained_ns, gained_ns > most_ns ? most_ns : gained_ns < -most_ns ? -most_ns : gained_ns);
    sum_add(&prices->cost_ns, cost_ns);
}

/* A look is rare: when it pays, what was learnt before is out of date. */
static void prices_forget_if_news(struct prices *prices, bool pays)
{
    if (!pays || prices_pay(prices))
        return;
    number_write(&prices->gained_ns, 0);
    number_write(&prices->cost_ns, 0);
}

/* Never more than the first looks may cost: a long pause does not save up for a row of them. */
static void allowance_add(struct policy_site *site, int64_t value_ns)
{
    int64_t most_ns = LOOKS_FIRST * site_look_ns(site);
    int64_t sum_ns = number_read(&site->allowance_ns) + value_ns;
    number_write(&site->allowance_ns, sum_ns < 0 ? 0 : sum_ns > most_ns ? most_ns : sum_ns);
}

static void site_saw_transfer(struct policy_site *site, int64_t transfer_ns)
{
    mean_add(&site->transfer_ns, transfer_ns, MEAN_MEMORY);
    allowance_add(site, transfer_ns / ALLOWANCE_PART);
    int64_t lent_ns = number_read(&site->lent_ns) - transfer_ns / ALLOWANCE_PART;
    number_write(&site->lent_ns, lent_ns > 0 ? lent_ns : 0);
}

static bool site_is_long(const struct policy_site *site)
{
    return number_read(&site->hold_ns) * LENT_PART <= number_read(&site->transfer_ns);
}

static void site_lend_look(struct policy_site *site)
{
    if (site_may_look(site) || number_read(&site->lent_ns) != 0)
        return;
    number_write(&site->lent_ns, LENT_FACTOR * site_look_ns(site));
    number_write(&site->allowance_ns, site_look_ns(site));
}

/* A call that waited. */
static void site_saw_waiting(struct policy_site *site, int64_t waited_ns)
{
    bool was_long = site_is_long(site);
    site_saw_transfer(site, waited_ns);
    if (!was_long && site_is_long(site))
        site_lend_look(site);
}

/* While the program ran on the engine took its part of the core: so much less has the program done. The rest it did
 * while the program waited, as stock MPI does. */
static int64_t outcome_gain_ns(struct policy_outcome outcome)
{
    if (outcome.overlapped_ns <= 0 || outcome.overlapped_ns > outcome.transfer_ns)
        return outcome.overlapped_ns;
    double part = (double)outcome.overlapped_ns / (double)outcome.transfer_ns;
    return outcome.overlapped_ns - (int64_t)((double)outcome.engine_ns * part);
}

static int64_t prices_late_gain_ns(struct prices *prices, struct policy_outcome outcome)
{
    int64_t passed_ns = number_read(&prices->passed_ns);
    atomic_fetch_add_explicit(&prices->late_ops, 1, memory_order_relaxed);
    return passed_ns != 0 && passed_ns < outcome.overlapped_ns ? passed_ns : outcome.overlapped_ns;
}

void policy_site_learn(struct policy_site *site, uint32_t situation, struct policy_outcome outcome)
{
    if (site == NULL)
        return;
    struct prices *prices = &site->prices[situation];
    int64_t gained_ns = outcome.is_late ? prices_late_gain_ns(prices, outcome) : outcome_gain_ns(outcome);
    bool is_first = number_read(&site->hold_ns) == 0;
    int64_t worth_ns = GAIN_FACTOR * outcome.cost_ns;
    mean_add(&site->hold_ns, outcome.cost_ns, MEAN_MEMORY);
    if (is_first)
        allowance_add(site, LOOKS_FIRST * worth_ns);
    site_saw_transfer(site, outcome.transfer_ns);
    if (gained_ns < worth_ns)
        allowance_add(site, gained_ns - worth_ns);
    prices_forget_if_news(prices, gained_ns >= worth_ns);
    if (gained_ns >= MUCH_FACTOR * outcome.cost_ns)
        joint_forget(&site->joints[situation % (1 << CALLER_BITS)]);
    prices_add(prices, gained_ns, outcome.cost_ns);
}

void policy_site_saw_pass(struct policy_site *site, uint32_t situation, int64_t inside_ns)
{
    if (site == NULL)
        return;
    site_saw_waiting(site, inside_ns);
    mean_add(&site->prices[situation].passed_ns, inside_ns, PASSED_MEMORY);
}

void policy_site_saw_away(struct policy_site *site, int64_t away_ns)
{
    enum { NS_PER_US = 1000 };
    if (site == NULL)
        return;
    uintptr_t class = size_class(away_ns > 0 ? (uint64_t)away_ns / NS_PER_US : 0);
    atomic_store_explicit(&site->away, class < AWAYS ? (uint32_t) class : AWAYS - 1, memory_order_relaxed);
}

/* From the start to the end of waiting: what the engine takes from the program's core makes the slack longer, and so
 * the waiting shorter. While the peer is helped, too, it is late for that reason, and help seems to save what it takes:
 * so the cost has the engine's time, too. */
static int64_t help_total_ns(struct policy_help help)
{
    return help.slack_ns + help.waited_ns;
}

static void site_saw_helped(struct policy_site *site, uint32_t situation, struct policy_help help)
{
    struct prices *prices = &site->prices[situation];
    int64_t passed_ns = number_read(&prices->passed_ns);
    int64_t gained_ns = passed_ns == 0 ? help.slack_ns : passed_ns - help_total_ns(help);
    atomic_fetch_add_explicit(&prices->late_ops, 1, memory_order_relaxed);
    policy_site_learn(site, situation, (struct policy_outcome){.overlapped_ns = gained_ns, .cost_ns = help.cost_ns});
}

void policy_site_saw_help(struct policy_site *site, uint32_t situation, struct policy_help help)
{
    if (site == NULL)
        return;
    if (help.is_helped) {
        site_saw_helped(site, situation, help);
    } else {
        site_saw_waiting(site, help.waited_ns);
        mean_add(&site->prices[situation].passed_ns, help_total_ns(help), PASSED_MEMORY);
    }
    policy_site_saw_away(site, help.slack_ns);
}

void policy_site_saw_slack(struct policy_site *site, uint32_t situation, int64_t slack_ns, int64_t cost_ns)
{
    if (site == NULL)
        return;
    prices_add(&site->prices[situation], slack_ns, cost_ns);
    policy_site_saw_away(site, slack_ns);
}
