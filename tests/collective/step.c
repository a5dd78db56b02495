/* SPDX-License-Identifier: MIT */
/* Claim: a program that makes several calls in a row, then computes, is known by the length of its steps once four of
 * them were alike. One that computes between all its calls has none, whatever it does now and then. Ranks agree only
 * upon what all of them say that compute. */
#include "../base/claim.h"
#include "mpi/collective/collective_step.h"

enum { CALLS = 400, US_NS = 1000, SHORT_US = 5, LONG_US = 20000 };

/* After so many calls. Each comes after the usual absence, and one of `every` after the longer one. */
static uint32_t length_of(uint32_t calls, uint32_t every, int64_t usual_us, int64_t longer_us)
{
    struct collective_step step = {0};
    int64_t sums[COLLECTIVE_STEP_SUMS];
    for (uint32_t i = 0; i < calls; i++)
        collective_step_note(&step, (i % every == 0 ? longer_us : usual_us) * US_NS);
    collective_step_tell(&step, sums);
    return (uint32_t)sums[COLLECTIVE_STEP_LENGTHS];
}

static void rows_are_found(void)
{
    enum { LONGEST = 32 };
    claim(length_of(4 * 8 + 1, 8, SHORT_US, LONG_US) == 8, "four steps of eight calls");
    claim(length_of(2 * 8 + 1, 8, SHORT_US, LONG_US) == 0, "but not two");
    claim(length_of(CALLS, 8, 300, LONG_US) == 8, "whose calls are prepared in between");
    claim(length_of(CALLS, LONGEST - 1, SHORT_US, LONG_US) == LONGEST - 1, "long ones");
    claim(length_of(CALLS, 2 * LONGEST, SHORT_US, LONG_US) == 0, "none that are too long");
}

static void work_between_calls_makes_no_steps(void)
{
    claim(length_of(CALLS, 1, LONG_US, LONG_US) == 1, "work after each call");
    claim(length_of(CALLS, 20, 2000, 5000) == 1, "more after some");
    claim(length_of(CALLS, 20, 2000, 30000) <= 1, "much more after some: what comes between hides enough");
    claim(length_of(CALLS, 8, SHORT_US, 2 * SHORT_US) == 0, "none at all");
}

/* Absences of any length: numbers from a linear congruential generator. */
static void chance_makes_no_steps(void)
{
    enum { RUNS = 2000, FACTOR = 1103515245, SUMMAND = 12345, SHIFT = 16 };
    uint32_t state = 1;
    struct collective_step step = {0};
    int known = 0;
    for (int i = 0; i < RUNS; i++) {
        int64_t sums[COLLECTIVE_STEP_SUMS];
        state = state * FACTOR + SUMMAND;
        collective_step_note(&step, (state >> SHIFT) * US_NS);
        collective_step_tell(&step, sums);
        known += sums[COLLECTIVE_STEP_LENGTHS] > 1;
    }
    claim(known < RUNS / 100, "hardly ever");
}

static void ranks_agree_or_not(void)
{
    const int64_t alike[COLLECTIVE_STEP_SUMS] = {3, 24, 192}, two_of_three[COLLECTIVE_STEP_SUMS] = {2, 16, 128};
    const int64_t unlike[COLLECTIVE_STEP_SUMS] = {3, 24, 194}, none[COLLECTIVE_STEP_SUMS] = {0};
    claim(collective_step_agreed(alike) == 8, "all say eight");
    claim(collective_step_agreed(two_of_three) == 8, "one never computes");
    claim(collective_step_agreed(unlike) == 0, "seven, eight and nine");
    claim(collective_step_agreed(none) == 0, "nobody knows");
}

int main(void)
{
    rows_are_found();
    work_between_calls_makes_no_steps();
    chance_makes_no_steps();
    ranks_agree_or_not();
    return 0;
}
