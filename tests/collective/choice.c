/* SPDX-License-Identifier: MIT */
/* Claim: the ranks of a communicator choose alike, go back to blocking collectives where nothing is gained, within a
 * bounded number of calls, and come back when that changes. Where a rank's buffer shares its edges, they let these go
 * first. Where blocking collectives take less than holds do, nothing is tried. What an early
 * return costs between calls counts. A program that begins to do something else is followed long before a round is
 * over, and one that always does something else is not tried for ever. */
#include "../base/claim.h"
#include "mpi/collective/collective_choice.h"

enum { RANKS = 3, CALLS = 2000, FIRST_CALLS = 7, US_NS = 1000 };

static struct collective_choice choices[RANKS];
static int64_t clocks_ns[RANKS];
static int64_t early_costs_us; /* each early call, between it and the next */
static int64_t computes_us;    /* the program, between two calls */

static void ranks_agree(void)
{
    int64_t all[COLLECTIVE_CHOICE_SUMS] = {0};
    for (int rank = 0; rank < RANKS; rank++) {
        int64_t own[COLLECTIVE_CHOICE_SUMS];
        collective_choice_take(&choices[rank], own);
        for (int i = 0; i < COLLECTIVE_CHOICE_SUMS; i++)
            all[i] += own[i];
    }
    for (int rank = 0; rank < RANKS; rank++)
        collective_choice_agree(&choices[rank], all);
}

/* One call of a rank. */
static enum collective_choice_kind rank_call(int rank, const int64_t stopped_us[COLLECTIVE_CHOICE_KINDS])
{
    enum collective_choice_kind kind = collective_choice_next(&choices[rank], clocks_ns[rank], clocks_ns[rank]);
    int64_t stopped_ns = stopped_us[kind] * US_NS * rank;
    collective_choice_learn(&choices[rank], kind, stopped_ns);
    bool is_blocking = kind == COLLECTIVE_CHOICE_BLOCKING;
    collective_choice_note_return(&choices[rank], clocks_ns[rank] + (is_blocking ? stopped_ns : 0));
    clocks_ns[rank] += computes_us * US_NS + stopped_ns + (is_blocking ? 0 : early_costs_us * US_NS);
    return kind;
}

/* One call on every rank, of the kind that is given back. Rank r is stopped r times as long as told for each kind. */
static enum collective_choice_kind ranks_call(const int64_t stopped_us[COLLECTIVE_CHOICE_KINDS])
{
    enum collective_choice_kind kinds[RANKS];
    bool is_due = collective_choice_is_due(&choices[0]);
    for (int rank = 1; rank < RANKS; rank++)
        claim(collective_choice_is_due(&choices[rank]) == is_due, "all ranks agree at the same call");
    if (is_due)
        ranks_agree();
    for (int rank = 0; rank < RANKS; rank++) {
        kinds[rank] = rank_call(rank, stopped_us);
        claim(kinds[rank] == kinds[0], "all ranks choose alike");
    }
    return kinds[0];
}

static int calls_of_kind(int calls, enum collective_choice_kind kind, int64_t blocking_us, int64_t whole_us,
                         int64_t pieces_us)
{
    const int64_t stopped_us[COLLECTIVE_CHOICE_KINDS] = {blocking_us, whole_us, pieces_us};
    int number = 0;
    for (int i = 0; i < calls; i++)
        number += ranks_call(stopped_us) == kind;
    return number;
}

static void expect_mostly(enum collective_choice_kind kind, int64_t blocking_us, int64_t whole_us, int64_t pieces_us,
                          const char *text)
{
    enum { CALLS_TO_CHANGE = 700 };
    calls_of_kind(CALLS_TO_CHANGE, kind, blocking_us, whole_us, pieces_us);
    claim(calls_of_kind(CALLS, kind, blocking_us, whole_us, pieces_us) >= CALLS * 95 / 100, text);
}

/* Pieces cost as much as a blocking collective at first, since a rank waits for them all; when the edges go first they
 * do not. */
static void edges_are_agreed_upon(void)
{
    calls_of_kind(FIRST_CALLS - 1, COLLECTIVE_CHOICE_BLOCKING, 9000, 9000, 9000);
    choices[1].shares_edges = true;
    calls_of_kind(1, COLLECTIVE_CHOICE_BLOCKING, 9000, 9000, 9000);
    claim(calls_of_kind(FIRST_CALLS, COLLECTIVE_CHOICE_BLOCKING, 9000, 9000, 2000) == 2, "it begins anew, once");
    for (int rank = 0; rank < RANKS; rank++)
        claim(choices[rank].has_edges, "all ranks do it where one needs it");
    expect_mostly(COLLECTIVE_CHOICE_PIECES, 9000, 9000, 2000, "and what pays then stays");
}

/* Blocking calls take long right after others, and less than those when they follow each other. */
static void blocking_calls_are_judged_in_rows(void)
{
    enum { CALLS_TO_CHANGE = 700 };
    enum collective_choice_kind last = COLLECTIVE_CHOICE_BLOCKING;
    int number = 0;
    for (int i = 0; i < CALLS_TO_CHANGE + CALLS; i++) {
        int64_t blocking_us = last == COLLECTIVE_CHOICE_BLOCKING ? 2000 : 4300;
        last = ranks_call((const int64_t[COLLECTIVE_CHOICE_KINDS]){blocking_us, 3000, 2400});
        number += i >= CALLS_TO_CHANGE && last == COLLECTIVE_CHOICE_BLOCKING;
    }
    claim(number >= CALLS * 95 / 100, "they are chosen");
}

static void begin_anew(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        choices[rank] = (struct collective_choice){.key = 1};
    early_costs_us = 0;
    computes_us = 0;
}

static void begin_listening(void)
{
    begin_anew();
    for (int rank = 0; rank < RANKS; rank++)
        choices[rank].listens_first = true;
}

/* As docs/limits-all.md says, and python/lapwing/bench/harm_programs.py allows. */
static void tries_are_bounded(void)
{
    enum { CALLS_FEW = 119, CALLS_SOME = 503, ROUND_MOST = 256 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    int calls = FIRST_CALLS, number = calls_of_kind(calls, blocking, 3000, 4000, 5000);
    claim(calls - number == 5, "five of the first seven");
    number += calls_of_kind(CALLS_FEW - calls, blocking, 3000, 4000, 5000);
    claim(CALLS_FEW - number == 11, "two in each of the next rounds");
    number += calls_of_kind(CALLS_SOME - CALLS_FEW, blocking, 3000, 4000, 5000);
    claim(CALLS_SOME - number == 15, "which become longer");
    number = calls_of_kind(8 * ROUND_MOST, blocking, 3000, 4000, 5000);
    claim(8 * ROUND_MOST - number == 16, "up to 256 calls");
}

/* In the long run; and where they take no longer any more they are as many as elsewhere. */
static void dear_tries_are_rare(void)
{
    enum { CALLS_MANY = 1 << 15, TRIES_OF_EACH_ROUND = 2, ROUND_DEAR = 1024, ROUND_MOST = 256 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    calls_of_kind(CALLS_MANY, blocking, 1000, 6000, 5000);
    int number = calls_of_kind(CALLS_MANY, blocking, 1000, 6000, 5000);
    claim(CALLS_MANY - number == CALLS_MANY / ROUND_DEAR * TRIES_OF_EACH_ROUND, "they cost a hundredth at most");
    calls_of_kind(CALLS_MANY, blocking, 1000, 1100, 1100);
    number = calls_of_kind(CALLS_MANY, blocking, 1000, 1100, 1100);
    claim(CALLS_MANY - number == CALLS_MANY / ROUND_MOST * TRIES_OF_EACH_ROUND, "the rounds are short again");
    calls_of_kind(CALLS_MANY, blocking, 1000, 5000000, 1000);
    number = calls_of_kind(CALLS_MANY, blocking, 1000, 5000000, 1000);
    claim(number < CALLS_MANY, "they do not end");
}

/* The last rank is stopped for twice as long as told. */
static void nothing_is_tried_in_vain(void)
{
    enum { LISTEN_CALLS = 3, ROUND_MOST = 256 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    begin_listening();
    claim(calls_of_kind(CALLS, blocking, 39, 1, 1) == CALLS, "no call of those that holds cannot make shorter");
    calls_of_kind(ROUND_MOST, blocking, 4000, 1000, 1000);
    claim(calls_of_kind(ROUND_MOST, blocking, 4000, 1000, 1000) < ROUND_MOST / 2, "they are tried when they take long");
    begin_listening();
    calls_of_kind(CALLS, blocking, 51, 10, 10);
    claim(calls_of_kind(CALLS, blocking, 51, 10, 10) < CALLS / 2, "where they take long for one rank, too");
    begin_listening();
    claim(calls_of_kind(LISTEN_CALLS, blocking, 4000, 1000, 1000) == LISTEN_CALLS, "short ones begin as MPI's own");
    claim(calls_of_kind(FIRST_CALLS, blocking, 4000, 1000, 1000) == 2, "and then are tried");
    begin_anew();
    calls_of_kind(FIRST_CALLS, blocking, 39, 400, 400);
    claim(calls_of_kind(CALLS, blocking, 39, 400, 400) == CALLS, "long ones no more, when that has been seen");
}

/* Two of three ranks, of which one is stopped for 1000 us and one for 2000, would be stopped for a half of that, and
 * lose more than this each time. */
static void hidden_costs_count(void)
{
    enum { CALLS_SOME = 300 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    begin_anew();
    early_costs_us = 700;
    calls_of_kind(CALLS_SOME, blocking, 1000, 500, 500);
    claim(calls_of_kind(CALLS, blocking, 1000, 500, 500) >= CALLS * 95 / 100, "what only seems to pay is not chosen");
    early_costs_us = 0;
    expect_mostly(COLLECTIVE_CHOICE_WHOLE, 1000, 500, 600, "and is chosen once it does pay");
    early_costs_us = 700;
    calls_of_kind(2 * CALLS_SOME, blocking, 1000, 500, 600);
    expect_mostly(blocking, 1000, 500, 600, "and no more when it does no more");
}

/* Blocking calls whose data are used at once are all that pays, until the program computes before it uses them. */
static void changes_are_followed(void)
{
    enum { CALLS_ALONE = 150, CALLS_TO_FOLLOW = 40, CALLS_BESIDE = 50 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING, pieces = COLLECTIVE_CHOICE_PIECES;
    begin_anew();
    calls_of_kind(CALLS_ALONE, blocking, 9000, 9500, 9500);
    computes_us = 9000;
    calls_of_kind(CALLS_TO_FOLLOW, blocking, 9000, 1000, 2000);
    claim(calls_of_kind(CALLS_BESIDE, blocking, 9000, 1000, 2000) < CALLS_BESIDE / 4, "work between calls is noticed");
    calls_of_kind(CALLS_TO_FOLLOW, blocking, 9000, 9000, 3000);
    claim(calls_of_kind(CALLS_BESIDE, pieces, 9000, 9000, 3000) > CALLS_BESIDE * 3 / 4, "longer stops are noticed");
}

/* A step calls several times, and then computes. */
static void steps_are_no_changes(void)
{
    enum { CALLS_OF_STEP = 10, STEPS = 200, ROUNDS = 4, TRIES_OF_EACH_ROUND = 2, FIRST_TRIES = 5 };
    enum { TRIES_MOST = FIRST_TRIES + ROUNDS * TRIES_OF_EACH_ROUND };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    int number = 0;
    begin_anew();
    for (int i = 0; i < CALLS_OF_STEP * STEPS; i++) {
        computes_us = i % CALLS_OF_STEP == 0 ? 90000 : 0;
        number += calls_of_kind(1, blocking, 9000, 40000, 40000);
    }
    claim(choices[0].step_calls == CALLS_OF_STEP, "they are found");
    claim(CALLS_OF_STEP * (STEPS - TRIES_MOST) < number, "they are not tried again and again");
}

/* A network that carries one call after another. Early calls go on while the program computes; a blocking one waits for
 * those before it, and so does the program where it uses what has come. All ranks are alike. */
enum { NETWORK_CALLS_OF_STEP = 8, NETWORK_CALL_US = 4000, NETWORK_WORK_US = 20000 };
static struct {
    int64_t now_us;
    int64_t stopped_us;
    int64_t free_us; /* then it has carried all */
} network;

static int64_t network_wait_us(void)
{
    int64_t waits_us = network.free_us > network.now_us ? network.free_us - network.now_us : 0;
    network.now_us += waits_us;
    network.stopped_us += waits_us;
    return waits_us;
}

static enum collective_choice_kind network_rank_next(int rank)
{
    int64_t ran_us = network.now_us - network.stopped_us;
    return collective_choice_next(&choices[rank], network.now_us * US_NS, ran_us * US_NS);
}

static void network_rank_end(int rank, enum collective_choice_kind kind, int64_t stopped_us)
{
    collective_choice_learn(&choices[rank], kind, stopped_us * US_NS);
    collective_choice_note_return(&choices[rank], (network.now_us - network.stopped_us) * US_NS);
}

static bool network_call_is_early(void)
{
    enum collective_choice_kind kind = COLLECTIVE_CHOICE_BLOCKING;
    if (collective_choice_is_due(&choices[0]))
        ranks_agree();
    for (int rank = 0; rank < RANKS; rank++)
        kind = network_rank_next(rank);
    bool is_early = kind != COLLECTIVE_CHOICE_BLOCKING;
    network.free_us = NETWORK_CALL_US + (network.free_us > network.now_us ? network.free_us : network.now_us);
    int64_t stopped_us = is_early ? 0 : network_wait_us();
    for (int rank = 0; rank < RANKS; rank++)
        network_rank_end(rank, kind, stopped_us);
    return is_early;
}

static int network_step(void)
{
    int early = 0;
    for (int call = 0; call < NETWORK_CALLS_OF_STEP; call++)
        early += network_call_is_early();
    network.now_us += NETWORK_WORK_US;
    int64_t stopped_us = network_wait_us();
    for (int rank = 0; rank < RANKS; rank++)
        atomic_fetch_add(&choices[rank].sums[(int)choices[rank].last * 2], stopped_us * US_NS);
    return early;
}

/* Early calls save 20 of 52 ms. One among blocking ones saves nothing, unless it is the last of its step. */
static void steps_are_compared(void)
{
    enum { STEPS_TO_LEARN = 40, STEPS = 200 };
    int early = 0;
    begin_anew();
    for (int step = 0; step < STEPS_TO_LEARN; step++)
        network_step();
    for (int step = 0; step < STEPS; step++)
        early += network_step();
    claim(early > STEPS * NETWORK_CALLS_OF_STEP * 9 / 10, "calls of a step are early together");
}

/* Nothing can be gained by calls that are over sooner than pages can be held, in rows or not. */
static void brief_rows_are_not_tried(void)
{
    enum { CALLS_OF_STEP = 8 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    int number = 0;
    begin_listening();
    for (int i = 0; i < CALLS; i++) {
        computes_us = i % CALLS_OF_STEP == 0 ? 3000 : 0;
        number += calls_of_kind(1, blocking, 39, 1, 1);
    }
    claim(choices[0].step_calls == CALLS_OF_STEP, "their length is known");
    claim(number == CALLS, "and none is tried");
}

/* A proof compares steps, and a call is charged its part of what one loses: a pause of the program's own in one of
 * these is forgotten soon. */
static void a_loss_of_a_step_is_shared_by_its_calls(void)
{
    enum { CALLS_OF_STEP = 8, STEPS = 400, WORK_US = 20000, EARLY_STEP = 7 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    int number = 0;
    bool has_paused = false;
    begin_anew();
    for (int i = 0; i < CALLS_OF_STEP * STEPS; i++) {
        bool pauses = choices[0].round == COLLECTIVE_CHOICE_PROVING && choices[0].step == EARLY_STEP &&
                      choices[0].step_calls == CALLS_OF_STEP && !has_paused;
        has_paused |= pauses;
        computes_us = (i % CALLS_OF_STEP == 0 ? WORK_US : 0) + (pauses ? WORK_US : 0);
        number += calls_of_kind(1, blocking, 4000, 3600, 3600);
    }
    claim(has_paused && number < CALLS_OF_STEP * STEPS / 2, "it does not outweigh for long what calls gain");
}

/* As docs/limits-all.md says. Rows: so many calls follow each other before the program computes. */
static void changes_for_ever_are_not_followed(int row, int calls_alike)
{
    enum { CALLS_MANY = 1 << 15 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    int number = 0;
    begin_anew();
    for (int i = 0; i < CALLS_MANY; i++) {
        computes_us = i % row != 0 ? 0 : 20000 + i / calls_alike % 2 * 90000;
        number += calls_of_kind(1, blocking, 9000, 10000, 10000);
    }
    claim(CALLS_MANY - number < CALLS_MANY / 50, "of the calls a fiftieth at most is a try");
}

static void dear_tries_are_rare_at_first(void)
{
    enum { ROUND_DEAR = 64, TRIES = 2 };
    const enum collective_choice_kind blocking = COLLECTIVE_CHOICE_BLOCKING;
    calls_of_kind(FIRST_CALLS, blocking, 1000, 3000, 3000);
    claim(calls_of_kind(ROUND_DEAR, blocking, 1000, 3000, 3000) == ROUND_DEAR - TRIES, "the first round is longer");
}

int main(void)
{
    nothing_is_tried_in_vain();
    hidden_costs_count();
    changes_are_followed();
    steps_are_no_changes();
    steps_are_compared();
    brief_rows_are_not_tried();
    a_loss_of_a_step_is_shared_by_its_calls();
    changes_for_ever_are_not_followed(1, 28);
    changes_for_ever_are_not_followed(8, 560);
    changes_for_ever_are_not_followed(32, 512);
    begin_anew();
    dear_tries_are_rare_at_first();
    begin_anew();
    edges_are_agreed_upon();
    begin_anew();
    blocking_calls_are_judged_in_rows();
    begin_anew();
    tries_are_bounded();
    begin_anew();
    dear_tries_are_rare();
    begin_anew();
    claim(calls_of_kind(FIRST_CALLS, COLLECTIVE_CHOICE_BLOCKING, 9000, 1000, 2000) == 2, "it begins with trying");
    expect_mostly(COLLECTIVE_CHOICE_WHOLE, 9000, 1000, 2000, "what pays most stays");
    expect_mostly(COLLECTIVE_CHOICE_PIECES, 9000, 8000, 2000, "pieces, where the program reads them in order");
    expect_mostly(COLLECTIVE_CHOICE_BLOCKING, 9000, 9000, 9000, "what brings nothing is given up");
    expect_mostly(COLLECTIVE_CHOICE_WHOLE, 9000, 1000, 9000, "and taken up again when it pays");
    expect_mostly(COLLECTIVE_CHOICE_BLOCKING, 9000, 12000, 14000, "nonblocking ones that are slower are given up");
    return 0;
}
