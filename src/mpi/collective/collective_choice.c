/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_choice.h"

#include <string.h>

/* All in steps, of one call each until more is known. What the first step takes is not learnt: memory is touched for
 * the first time, connections are made. Where an early return pays, one step in 32 goes each other way at first, then
 * one in 64, then one in EARLY_ROUND_MOST. Where it does not, that is tried again after 16, 32, and so on, then every
 * 256 steps: one that takes twice as long then costs half a percent. Where they take so long that they would cost more
 * than a part in TRIES_PART, rounds grow further. The first of these rounds is longer where its tries would cost more
 * than a part in TRIES_PART_AT_FIRST of it, but no longer than FRESH_ROUND_MOST: one try may have met a slow moment. */
enum { LISTEN_ROUND = 3, FIRST_ROUND = 7, EARLY_ROUND = 32, BLOCKING_ROUND = 16 };
enum { FRESH_ROUND_MOST = 64, BLOCKING_ROUND_MOST = 256, EARLY_ROUND_MOST = 128, DEAR_ROUND_MOST = 4096 };
enum { TRIES_PART = 100, TRIES_PART_AT_FIRST = 16 };
/* A hold takes 17 to 44 us, and a call has up to two. Who is stopped for no longer than that gains nothing. */
enum { HOLDS_NS = 100000 };
/* Proofs cost five blocking steps; then there is one in 1024 steps. */
enum { PROOF_EARLY_ROUNDS = 8 };
/* An early return must bring a part in GAIN_PART. What a single call of another kind took counts half. */
enum { GAIN_PART = 32, MEAN_MEMORY = 2, HIDDEN_MEMORY = 4 };
/* Steps whose length never stays the same are not followed for ever. */
enum { STEP_CHANGES_MOST = 4 };
enum { SUM_NS = 0, SUM_CALLS = 1, SUMS_PER_KIND = 2 };

bool collective_choice_is_due(const struct collective_choice *choice)
{
    bool is_over = choice->round != COLLECTIVE_CHOICE_NONE && choice->step == choice->round_length;
    bool must_look = choice->round == COLLECTIVE_CHOICE_LATER && collective_watch_is_due(&choice->watch);
    return choice->step_call == 0 && (is_over || must_look);
}

static bool sums_are_stopped(const int64_t sums[SUMS_PER_KIND])
{
    return sums[SUM_NS] >= sums[SUM_CALLS] * HOLDS_NS && sums[SUM_CALLS] != 0;
}

void collective_choice_take(struct collective_choice *choice, int64_t sums[COLLECTIVE_CHOICE_SUMS])
{
    for (int i = 0; i < COLLECTIVE_CHOICE_SHARERS; i++)
        sums[i] = atomic_exchange_explicit(&choice->sums[i], 0, memory_order_relaxed); /* numbers for judging */
    sums[COLLECTIVE_CHOICE_SHARERS] = choice->shares_edges;
    sums[COLLECTIVE_CHOICE_STOPPED] = sums_are_stopped(&sums[COLLECTIVE_CHOICE_BLOCKING * SUMS_PER_KIND]);
    collective_proof_take(&choice->proof, &sums[COLLECTIVE_CHOICE_PROOF]);
    collective_watch_take(&choice->watch, &sums[COLLECTIVE_CHOICE_WATCH]);
    collective_step_tell(&choice->steps, &sums[COLLECTIVE_CHOICE_STEP]);
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
    int64_t best_ns = choice->means_ns[best] - choice->means_ns[best] / GAIN_PART - choice->hidden_ns;
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
    return choice->chosen == COLLECTIVE_CHOICE_BLOCKING && choice->is_brief;
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

/* How long a round must be, of `length` calls at least and `most` at most, so that its tries take at most this part. */
static uint32_t choice_round_for(const struct collective_choice *choice, uint32_t length, uint32_t most, int64_t part)
{
    int64_t tries_ns = choice_tries_ns(choice);
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    while (length < most && tries_ns * part > blocking_ns * length)
        length *= 2;
    return length;
}

static uint32_t choice_length_of_blocking(const struct collective_choice *choice)
{
    if (choice->blocking_length == 0)
        return choice_round_for(choice, BLOCKING_ROUND, FRESH_ROUND_MOST, TRIES_PART_AT_FIRST);
    uint32_t most = choice_round_for(choice, BLOCKING_ROUND_MOST, DEAR_ROUND_MOST, TRIES_PART);
    return choice->blocking_length < most / 2 ? 2 * choice->blocking_length : most;
}

static uint32_t choice_length_of_early(const struct collective_choice *choice)
{
    if (choice->early_length == 0)
        return EARLY_ROUND;
    return choice->early_length < EARLY_ROUND_MOST ? 2 * choice->early_length : EARLY_ROUND_MOST;
}

static uint32_t choice_begin_later(struct collective_choice *choice)
{
    bool is_early = choice->chosen != COLLECTIVE_CHOICE_BLOCKING;
    choice->blocking_length = is_early ? 0 : choice_length_of_blocking(choice);
    choice->early_length = is_early ? choice_length_of_early(choice) : 0;
    return is_early ? choice->early_length : choice->blocking_length;
}

/* Where nothing can be gained, nothing is to be noticed. */
static void choice_watch(struct collective_choice *choice)
{
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    collective_watch_plan(&choice->watch, choice_is_hopeless(choice) ? 0 : blocking_ns, choice->step_calls);
}

static void choice_begin(struct collective_choice *choice, enum collective_choice_round round)
{
    static const uint32_t lengths[] = {[COLLECTIVE_CHOICE_LISTENING] = LISTEN_ROUND,
                                       [COLLECTIVE_CHOICE_FIRST] = FIRST_ROUND,
                                       [COLLECTIVE_CHOICE_PROVING] = COLLECTIVE_PROOF_ROUND};
    choice->round_length = round == COLLECTIVE_CHOICE_LATER ? choice_begin_later(choice) : lengths[round];
    if (round != COLLECTIVE_CHOICE_LATER || choice->round != COLLECTIVE_CHOICE_LATER)
        collective_watch_begin(&choice->watch);
    choice->round = round;
    choice->step = 0;
    choice->step_call = 0;
    memset(choice->round_sums, 0, sizeof choice->round_sums);
    choice_watch(choice);
}

/* What early returns cost between calls is what the program lost and what the calls seemed to gain. No more than a
 * blocking call takes, which no gain outweighs: a pause of the program's own may have met the proof. It is believed
 * less after each round of blocking calls, since the program may do something else by then. */
static void choice_note_proof(struct collective_choice *choice, const int64_t sums[COLLECTIVE_PROOF_SUMS])
{
    int64_t loss_ns = collective_proof_loss_ns(sums) / choice->step_calls;
    int64_t blocking_ns = choice->means_ns[COLLECTIVE_CHOICE_BLOCKING];
    int64_t hidden_ns = loss_ns + blocking_ns - choice->means_ns[choice->chosen];
    if (choice->round != COLLECTIVE_CHOICE_PROVING)
        choice->hidden_ns -= choice->chosen == COLLECTIVE_CHOICE_BLOCKING ? choice->hidden_ns / HIDDEN_MEMORY : 0;
    else if (loss_ns == 0)
        choice->hidden_ns = 0;
    else if (choice->hidden_ns < hidden_ns)
        choice->hidden_ns = hidden_ns < blocking_ns ? hidden_ns : blocking_ns;
}

static enum collective_choice_round choice_round_next(struct collective_choice *choice, bool was_early)
{
    bool is_proving = choice->round == COLLECTIVE_CHOICE_PROVING;
    if (choice->chosen == COLLECTIVE_CHOICE_BLOCKING) {
        bool is_asked = choice->round == COLLECTIVE_CHOICE_FIRST || choice_has_tried(choice);
        return is_asked || choice_is_hopeless(choice) ? COLLECTIVE_CHOICE_LATER : COLLECTIVE_CHOICE_FIRST;
    }
    choice->early_rounds = is_proving ? 0 : choice->early_rounds + 1;
    bool is_due = !is_proving && (!was_early || choice->early_rounds >= PROOF_EARLY_ROUNDS);
    return is_due ? COLLECTIVE_CHOICE_PROVING : COLLECTIVE_CHOICE_LATER;
}

/* What has been measured so far says nothing any more. */
static void choice_try_again(struct collective_choice *choice)
{
    choice->hidden_ns = 0;
    for (int kind = 0; kind < COLLECTIVE_CHOICE_KINDS; kind++)
        choice->means_ns[kind] = 0;
    choice_begin(choice, COLLECTIVE_CHOICE_FIRST);
}

/* It was measured without. */
static void choice_add_edges(struct collective_choice *choice)
{
    choice->has_edges = true;
    choice->chosen = COLLECTIVE_CHOICE_BLOCKING;
    choice->blocking_length = 0;
    choice_try_again(choice);
}

/* By what the ranks have measured since the last look. */
static bool choice_sees_change(struct collective_choice *choice, const int64_t sums[COLLECTIVE_CHOICE_SUMS])
{
    const int64_t *chosen = &sums[(int)choice->chosen * SUMS_PER_KIND];
    return choice->round == COLLECTIVE_CHOICE_LATER &&
           collective_watch_sees_change(&choice->watch, &sums[COLLECTIVE_CHOICE_WATCH], chosen[SUM_NS],
                                        chosen[SUM_CALLS], choice->means_ns[COLLECTIVE_CHOICE_BLOCKING]);
}

/* Early returns that stay are compared with blocking calls soon. */
static void choice_follow_change(struct collective_choice *choice)
{
    choice->early_rounds = PROOF_EARLY_ROUNDS - 1;
    choice_try_again(choice);
}

/* What was measured by single calls says little where the program computes after several: true, unless nothing can be
 * gained. */
static bool choice_sees_steps(struct collective_choice *choice, const int64_t sums[COLLECTIVE_STEP_SUMS])
{
    uint32_t agreed = collective_step_agreed(sums);
    if (agreed == 0 || agreed == choice->step_calls || choice->step_changes == STEP_CHANGES_MOST)
        return false;
    choice->step_calls = agreed;
    choice->step_changes++;
    choice->blocking_length = 0;
    return !choice_is_hopeless(choice);
}

/* By all of the round. A round that proves something has no looks. */
static void choice_choose(struct collective_choice *choice, const int64_t proof_sums[COLLECTIVE_PROOF_SUMS])
{
    const int64_t *sums = choice->round_sums;
    enum collective_choice_kind before = choice->chosen;
    for (int kind = 0; kind < COLLECTIVE_CHOICE_KINDS; kind++)
        mean_add(&choice->means_ns[kind], &sums[kind * SUMS_PER_KIND], kind == (int)before);
    if (sums[COLLECTIVE_CHOICE_BLOCKING * SUMS_PER_KIND + SUM_CALLS] != 0)
        choice->is_brief = sums[COLLECTIVE_CHOICE_STOPPED] == 0;
    choice_note_proof(choice, proof_sums);
    choice->chosen = choice_best(choice);
    if (choice->chosen != before)
        collective_watch_begin(&choice->watch);
    choice_begin(choice, choice_round_next(choice, before != COLLECTIVE_CHOICE_BLOCKING));
}

void collective_choice_agree(struct collective_choice *choice, const int64_t sums[COLLECTIVE_CHOICE_SUMS])
{
    if (sums[COLLECTIVE_CHOICE_SHARERS] != 0 && !choice->has_edges)
        return choice_add_edges(choice);
    bool are_steps = choice_sees_steps(choice, &sums[COLLECTIVE_CHOICE_STEP]);
    if (are_steps || choice_sees_change(choice, sums))
        return choice_follow_change(choice);
    for (int i = 0; i < COLLECTIVE_CHOICE_PROOF; i++)
        choice->round_sums[i] += sums[i];
    if (choice->step == choice->round_length)
        return choice_choose(choice, &sums[COLLECTIVE_CHOICE_PROOF]);
    choice_watch(choice);
}

static enum collective_choice_kind choice_first(uint32_t step)
{
    static const uint8_t kinds[FIRST_ROUND] = {
        COLLECTIVE_CHOICE_PIECES,   COLLECTIVE_CHOICE_WHOLE,    COLLECTIVE_CHOICE_PIECES, COLLECTIVE_CHOICE_WHOLE,
        COLLECTIVE_CHOICE_BLOCKING, COLLECTIVE_CHOICE_BLOCKING, COLLECTIVE_CHOICE_PIECES};
    return (enum collective_choice_kind)kinds[step];
}

/* Is this one of the steps that the round tries this kind in? Of blocking calls the first does not count. */
static bool is_trial(enum collective_choice_kind kind, uint32_t begin, uint32_t step)
{
    return step == begin || (kind == COLLECTIVE_CHOICE_BLOCKING && step == begin + 1);
}

/* The two others, unless there is nothing to gain, at a third and at two thirds of a round. */
static enum collective_choice_kind choice_later(const struct collective_choice *choice, uint32_t step)
{
    for (int i = 1; i < COLLECTIVE_CHOICE_KINDS && !choice_is_hopeless(choice); i++) {
        enum collective_choice_kind other =
            (enum collective_choice_kind)(((int)choice->chosen + i) % COLLECTIVE_CHOICE_KINDS);
        if (is_trial(other, choice->round_length / COLLECTIVE_CHOICE_KINDS * (uint32_t)i, step))
            return other;
    }
    return choice->chosen;
}

static enum collective_choice_kind choice_kind(const struct collective_choice *choice, uint32_t step)
{
    switch (choice->round) {
    case COLLECTIVE_CHOICE_LISTENING:
        return COLLECTIVE_CHOICE_BLOCKING;
    case COLLECTIVE_CHOICE_FIRST:
        return choice_first(step);
    case COLLECTIVE_CHOICE_PROVING:
        return collective_proof_is_blocking(step) ? COLLECTIVE_CHOICE_BLOCKING : choice->chosen;
    default:
        return choice_later(choice, step);
    }
}

static bool choice_begins_anew(const struct collective_choice *choice)
{
    return choice->round == COLLECTIVE_CHOICE_LISTENING || choice->round == COLLECTIVE_CHOICE_FIRST;
}

/* Before the first call there was none to come back from. After a try the program may wait elsewhere. */
static void choice_note_away(struct collective_choice *choice, int64_t away_ns)
{
    if (!choice->has_returned)
        return;
    collective_step_note(&choice->steps, away_ns);
    if (choice->round == COLLECTIVE_CHOICE_LATER && choice->last == choice->chosen)
        collective_watch_note_away(&choice->watch, away_ns);
}

/* Alike on all ranks, whatever else each of them has seen. */
static void choice_count_call(struct collective_choice *choice)
{
    choice->step_call = (choice->step_call + 1) % choice->step_calls;
    if (choice->step_call != 0)
        return;
    choice->step++;
    if (choice->round == COLLECTIVE_CHOICE_LATER && choice->last == choice->chosen)
        collective_watch_count_step(&choice->watch);
}

static void choice_begin_with_first(struct collective_choice *choice)
{
    choice->step_calls = 1;
    choice_begin(choice, choice->listens_first ? COLLECTIVE_CHOICE_LISTENING : COLLECTIVE_CHOICE_FIRST);
}

enum collective_choice_kind collective_choice_next(struct collective_choice *choice, int64_t now_ns, int64_t ran_ns)
{
    if (choice->round == COLLECTIVE_CHOICE_NONE)
        choice_begin_with_first(choice);
    bool was_blocking = choice->last == COLLECTIVE_CHOICE_BLOCKING;
    if (choice->round == COLLECTIVE_CHOICE_PROVING && choice->step_call == 0)
        collective_proof_note(&choice->proof, choice->step, now_ns);
    choice_note_away(choice, ran_ns - choice->returned_ns);
    choice->last = choice_kind(choice, choice->step);
    choice->follows_blocking = choice->last == COLLECTIVE_CHOICE_BLOCKING && was_blocking;
    choice_count_call(choice);
    return choice->last;
}

void collective_choice_note_return(struct collective_choice *choice, int64_t ran_ns)
{
    choice->returned_ns = ran_ns;
    choice->has_returned = true;
}

/* A call has been counted when it is learnt from. */
static bool choice_is_in_first_step(const struct collective_choice *choice)
{
    return choice->step == 0 || (choice->step == 1 && choice->step_call == 0);
}

void collective_choice_learn(struct collective_choice *choice, enum collective_choice_kind kind, int64_t stopped_ns)
{
    bool is_first = choice_begins_anew(choice) && choice_is_in_first_step(choice);
    if (is_first || (kind == COLLECTIVE_CHOICE_BLOCKING && !choice->follows_blocking))
        return;
    /* relaxed: numbers for judging; one that comes late counts in the next round */
    atomic_fetch_add_explicit(&choice->sums[(int)kind * SUMS_PER_KIND + SUM_NS], stopped_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&choice->sums[(int)kind * SUMS_PER_KIND + SUM_CALLS], 1, memory_order_relaxed);
}
