/* SPDX-License-Identifier: MIT */
/* Which of two takes longer, as pairs of times tell? Each pair counts with its difference, as a part of its sum. */
#ifndef POLICY_DIFFERENCES_H
#define POLICY_DIFFERENCES_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. */
struct differences {
    uint32_t count;
    double mean;
    double squares; /* sum of their squared distances from the mean */
};

/* One more pair, in any unit; none where both are zero. */
void differences_add(struct differences *differences, double first, double second);

/* By so many standard errors, is it clear which takes longer? The first, where the mean is above zero. Not to be asked
 * of one pair. */
bool differences_are_clear(const struct differences *differences, double errors);

#endif
