/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_choice.h"

/* What the first call takes is not learnt: memory is touched for the first time, connections are made. Where an early
 * return pays, one call in EARLY_ROUND goes each other way. Where it does not, that is tried again after 16, 32, and so
 * on, then every 256 calls: one that takes twice as long then costs half a percent. Where they take so long that they
 * would cost more than a part in TRIES_PART, rounds grow further. The first of these rounds is longer where its tries
 * would cost more than a part in TRIES_PART_AT_FIRST of it. */
enum { FIRST_ROUND = 7, EARLY_ROUND = 128, BLOCKING_ROUND = 16, BLOCKING_ROUND_MOST = 256, DEAR_ROUND_MOST = 4096 };
enum { TRIES_PART = 100, TRIES_PART_AT_FIRST = 16 };
/* A hold takes 17 to 44 us, and a call has two. What stops its program for less than that cannot be made shorter. */
enum { HOLDS_NS = 80000 };
/* Of fewer bytes three calls of MPI's own come before all others: over shared memory they take less than HOLDS_NS. */
enum { LISTEN_ROUND = 3, LISTEN_BYTES = 1 << 20 };
/* An early return must bring a part in GAIN_PART. What a single call of another kind took counts half. */
enum { GAIN_PART = 32, MEAN_MEMORY = 2 };
enum { SUM_NS = 0, SUM_CALLS = 1, SUMS_PER_KIND = 2 };

bool collective_choice_is_due(const struct collective_choice *choice)
{
    return choice->round_length != 0 && choice->call == choice->round_length;
}

void collective_choice_take(struct collective_choice *choice, int64_t sums[COLLECTIVE_CHOICE_SUMS])
{
    for (int i = 0; i < COLLECTIVE_CHOICE_SHARERS; i++)
        sums[i] = atomic_exchange_explicit(&choice->sums[i], 0, memory_order_relaxed); /* numbers for judging */
    sums[COLLECTIVE_CHOICE_SHARERS] = choice->shares_edges;
    choice->shares_edges = false;
}

static void mean_add(int64_t *mean_ns, const int64_t sums[SUMS_PER_KIND], bool is_chosen)
{
    if (sums[SUM_CALLS] == 0)
        return;
    int64_t new_ns = sums[SUM_NS] / sums[SUM_CALLS];
    bool is_new = is_chosen || *mean_ns == 0;
    *mean_ns = is_new ? new_ns : *mean_ns + (new_ns - *mean_ns) / MEAN_MEMORY;
}

/* What is not known is not chosen. */
static enum collective_choice_kind choice_best(const struct collective_choice *choice)
{
    enum collective_choice_kind best = COLLECTIVE_CHOICE_BLOCKING;
    int64_t best_ns = choice->means_ns[best] - choice->means_ns[best] / GAIN_PART;
    for (int kind = COLLECTIVE_CHOICE_WHOLE; kind < COLLECTIVE_CHOICE_KINDS; kind++) {
        if (choice->means_ns[kind] == 0 || choice->means_ns[kind] > best_ns)
            continue;
        best = (enum collective_choice_kind)kind;
        best_ns = choice->means_ns[kind];
    }
    return best;
}

static bool choice_is_hopeless(const struct collective_choice *choice)
{
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    return choice->chosen == COLLECTIVE_CHOICE_BLOCKING && blocking_ns != 0 && blocking_ns < HOLDS_NS;
}

static bool choice_has_tried(const struct collective_choice *choice)
{
    return choice->means_ns[COLLECTIVE_CHOICE_WHOLE] != 0 || choice->means_ns[COLLECTIVE_CHOICE_PIECES] != 0;
}

/* What the tries of a round take longer than blocking calls would. */
static int64_t choice_tries_ns(const struct collective_choice *choice)
{
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    int64_t sum_ns = 0;
    for (int kind = COLLECTIVE_CHOICE_WHOLE; kind < COLLECTIVE_CHOICE_KINDS; kind++)
        sum_ns += choice->means_ns[kind] > blocking_ns ? choice->means_ns[kind] - blocking_ns : 0;
    return sum_ns;
}

/* In a round of this many blocking calls, or more, the tries take at most this part of the time. */
static uint32_t choice_round_of_part(const struct collective_choice *choice, uint32_t length, int64_t part)
{
    int64_t tries_ns = choice_tries_ns(choice);
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    while (length < DEAR_ROUND_MOST && tries_ns * part > blocking_ns * length)
        length *= 2;
    return length;
}

static uint32_t choice_round(const struct collective_choice *choice, bool was_blocking)
{
    if (choice->chosen != COLLECTIVE_CHOICE_BLOCKING)
        return EARLY_ROUND;
    if (choice->round_length != FIRST_ROUND && !choice_has_tried(choice) && !choice_is_hopeless(choice))
        return FIRST_ROUND;
    if (!was_blocking)
        return choice_round_of_part(choice, BLOCKING_ROUND, TRIES_PART_AT_FIRST);
    uint32_t most = choice_round_of_part(choice, BLOCKING_ROUND_MOST, TRIES_PART);
    return choice->round_length < most / 2 ? 2 * choice->round_length : most;
}

/* What has been measured so far was measured without. */
static void choice_add_edges(struct collective_choice *choice)
{
    choice->has_edges = true;
    choice->chosen = COLLECTIVE_CHOICE_BLOCKING;
    choice->round_length = FIRST_ROUND;
    choice->call = 0;
    for (int kind = 0; kind < COLLECTIVE_CHOICE_KINDS; kind++)
        choice->means_ns[kind] = 0;
}

void collective_choice_agree(struct collective_choice *choice, const int64_t sums[COLLECTIVE_CHOICE_SUMS])
{
    if (sums[COLLECTIVE_CHOICE_SHARERS] != 0 && !choice->has_edges)
        return choice_add_edges(choice);
    bool is_first = choice->round_length <= FIRST_ROUND;
    enum collective_choice_kind before = choice->chosen;
    for (int kind = 0; kind < COLLECTIVE_CHOICE_KINDS; kind++)
        mean_add(&choice->means_ns[kind], &sums[kind * SUMS_PER_KIND], kind == (int)before);
    choice->chosen = choice_best(choice);
    choice->round_length = choice_round(choice, before == COLLECTIVE_CHOICE_BLOCKING && !is_first);
    choice->call = 0;
}

static enum collective_choice_kind choice_first(uint32_t call)
{
    static const uint8_t kinds[FIRST_ROUND] = {
        COLLECTIVE_CHOICE_PIECES,   COLLECTIVE_CHOICE_WHOLE,    COLLECTIVE_CHOICE_PIECES, COLLECTIVE_CHOICE_WHOLE,
        COLLECTIVE_CHOICE_BLOCKING, COLLECTIVE_CHOICE_BLOCKING, COLLECTIVE_CHOICE_PIECES};
    return (enum collective_choice_kind)kinds[call];
}

/* Is this one of the calls that the round tries this kind in? Of blocking ones the first does not count. */
static bool is_trial(enum collective_choice_kind kind, uint32_t begin, uint32_t call)
{
    return call == begin || (kind == COLLECTIVE_CHOICE_BLOCKING && call == begin + 1);
}

/* The two others, unless there is nothing to gain, at a third and at two thirds of a round. */
static enum collective_choice_kind choice_later(const struct collective_choice *choice, uint32_t call)
{
    for (int i = 1; i < COLLECTIVE_CHOICE_KINDS && !choice_is_hopeless(choice); i++) {
        enum collective_choice_kind other =
            (enum collective_choice_kind)(((int)choice->chosen + i) % COLLECTIVE_CHOICE_KINDS);
        if (is_trial(other, choice->round_length / COLLECTIVE_CHOICE_KINDS * (uint32_t)i, call))
            return other;
    }
    return choice->chosen;
}

static enum collective_choice_kind choice_kind(const struct collective_choice *choice, uint32_t call)
{
    if (choice->round_length == LISTEN_ROUND)
        return COLLECTIVE_CHOICE_BLOCKING;
    return choice->round_length == FIRST_ROUND ? choice_first(call) : choice_later(choice, call);
}

enum collective_choice_kind collective_choice_next(struct collective_choice *choice, uint64_t bytes)
{
    if (choice->round_length == 0)
        choice->round_length = bytes != 0 && bytes < LISTEN_BYTES ? LISTEN_ROUND : FIRST_ROUND;
    uint32_t call = choice->call++;
    bool was_blocking = choice->last == COLLECTIVE_CHOICE_BLOCKING;
    choice->last = choice_kind(choice, call);
    choice->is_in_step = choice->last == COLLECTIVE_CHOICE_BLOCKING && was_blocking;
    return choice->last;
}

void collective_choice_learn(struct collective_choice *choice, enum collective_choice_kind kind, int64_t stopped_ns)
{
    bool is_first = choice->round_length <= FIRST_ROUND && choice->call <= 1;
    if (is_first || (kind == COLLECTIVE_CHOICE_BLOCKING && !choice->is_in_step))
        return;
    /* relaxed: numbers for judging; one that comes late counts in the next round */
    atomic_fetch_add_explicit(&choice->sums[(int)kind * SUMS_PER_KIND + SUM_NS], stopped_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&choice->sums[(int)kind * SUMS_PER_KIND + SUM_CALLS], 1, memory_order_relaxed);
}
