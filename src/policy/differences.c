/* SPDX-License-Identifier: MIT */
#include "policy/differences.h"

/* No outlier counts for more than DIFFERENCE_MOST. What is clear is no smaller than the others: two pairs may agree by
 * chance. */
#define DIFFERENCE_MOST 0.5
#define DIFFERENCE_OF_TWO 0.1
#define DIFFERENCE_LEAST 0.005

static double difference_limit(double difference)
{
    if (difference > DIFFERENCE_MOST)
        return DIFFERENCE_MOST;
    return difference < -DIFFERENCE_MOST ? -DIFFERENCE_MOST : difference;
}

void differences_add(struct differences *differences, double first, double second)
{
    if (first + second <= 0)
        return;
    double difference = difference_limit((first - second) / (first + second));
    double before = difference - differences->mean;
    differences->mean += before / ++differences->count;
    differences->squares += before * (difference - differences->mean);
}

bool differences_are_clear(const struct differences *differences, double errors)
{
    double least = differences->count == 2 ? DIFFERENCE_OF_TWO : DIFFERENCE_LEAST;
    double squared = differences->mean * differences->mean;
    double count = differences->count;
    bool is_large = squared >= least * least;
    return is_large && squared * count * (count - 1) >= errors * errors * differences->squares;
}
