/* SPDX-License-Identifier: MIT */
/* How many calls does the program make before it computes? A program that sums eight arrays in a row, then computes,
 * has steps of eight calls. What one of these takes says little: early ones run on together, and a blocking one waits
 * for the early ones before it. So ways are compared by whole steps (collective_choice.h).
 *
 * So much that a step's other absences hide nothing beside it: that is a long absence. Steps are known once these have
 * come at equal distances, on all ranks that have such: who never computes between calls tells nothing. */
#ifndef MPI_COLLECTIVE_STEP_H
#define MPI_COLLECTIVE_STEP_H

#include <stdint.h>

/* What the ranks add up: how many of them know the length of their steps, these lengths, and their squares. */
enum { COLLECTIVE_STEP_RANKS, COLLECTIVE_STEP_LENGTHS, COLLECTIVE_STEP_SQUARES, COLLECTIVE_STEP_SUMS };

/* Of this rank. As struct collective_choice, of which it is a part. Zeroed: nothing is known. */
struct collective_step {
    int64_t long_ns;   /* the last long absence */
    int64_t short_ns;  /* the sum of those since */
    uint32_t calls;    /* since then */
    uint32_t distance; /* in calls, from the long absence before to the last one */
    uint32_t alike;    /* how often it was that in a row */
};

/* A call begins. away_ns: for how long the program computed since the call before. */
void collective_step_note(struct collective_step *step, int64_t away_ns);

/* What this rank knows. */
void collective_step_tell(const struct collective_step *step, int64_t sums[COLLECTIVE_STEP_SUMS]);

/* By the sums of all ranks: calls of a step; 0: not known, or not alike on all ranks. */
uint32_t collective_step_agreed(const int64_t sums[COLLECTIVE_STEP_SUMS]);

#endif
