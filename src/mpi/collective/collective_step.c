/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_step.h"

#include <stdbool.h>

/* Longer steps are none. Equal distances may come by chance, and short ones sooner: they count once they have been
 * alike so many times, over so many calls. */
enum { CALLS_MOST = 32, ALIKE_LEAST = 3, ALIKE_CALLS_LEAST = 12 };
/* What takes less is no work worth a step: holds take about as long. */
enum { SHORT_NS = 100000 };
/* Beside a long absence the short ones of its step hide nothing: they take a part in SUM_PART of it together. One that
 * takes a part in LONG_PART of the last long one is no short one. */
enum { SUM_PART = 4, LONG_PART = 8 };

static bool absence_is_long(const struct collective_step *step, int64_t away_ns)
{
    return away_ns > SHORT_NS && away_ns >= step->long_ns / LONG_PART && away_ns >= step->short_ns * SUM_PART;
}

static void step_note_long(struct collective_step *step, int64_t away_ns)
{
    bool is_alike = step->distance == step->calls;
    step->alike = is_alike ? step->alike + 1 : 1;
    step->distance = step->calls;
    step->calls = 0;
    step->long_ns = away_ns;
    step->short_ns = 0;
}

void collective_step_note(struct collective_step *step, int64_t away_ns)
{
    step->calls++;
    if (absence_is_long(step, away_ns))
        step_note_long(step, away_ns);
    else if (step->calls == CALLS_MOST)
        *step = (struct collective_step){0};
    else
        step->short_ns += away_ns;
}

static bool step_is_known(const struct collective_step *step)
{
    return step->alike >= ALIKE_LEAST && step->alike * step->distance >= ALIKE_CALLS_LEAST;
}

void collective_step_tell(const struct collective_step *step, int64_t sums[COLLECTIVE_STEP_SUMS])
{
    int64_t length = step_is_known(step) ? step->distance : 0;
    sums[COLLECTIVE_STEP_RANKS] = length != 0;
    sums[COLLECTIVE_STEP_LENGTHS] = length;
    sums[COLLECTIVE_STEP_SQUARES] = length * length;
}

/* Numbers are alike if the square of their sum is their number times the sum of their squares. */
uint32_t collective_step_agreed(const int64_t sums[COLLECTIVE_STEP_SUMS])
{
    int64_t ranks = sums[COLLECTIVE_STEP_RANKS];
    int64_t lengths = sums[COLLECTIVE_STEP_LENGTHS];
    bool are_alike = ranks != 0 && lengths * lengths == ranks * sums[COLLECTIVE_STEP_SQUARES];
    return are_alike ? (uint32_t)(lengths / ranks) : 0;
}
