/* SPDX-License-Identifier: MIT */
#include "base/patience.h"

#include "base/clock.h"

bool base_patience_pause(int *pauses_left)
{
    enum { PAUSE_NS = 1000000 };
    if (*pauses_left <= 0)
        return false;
    --*pauses_left;
    base_clock_pause(PAUSE_NS);
    return true;
}
