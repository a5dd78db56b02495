/* SPDX-License-Identifier: MIT */
/* Claim: a thread that enters MPI learns of every hold that is armed beside it, also when several threads arm at once.
 */
#include "op/arming.h"

#include "../base/claim.h"

int main(void)
{
    uint64_t before = arming_moment();
    claim(before != 0 && !arming_came_between(before), "nobody arms");
    arming_begin();
    uint64_t one = arming_moment();
    claim(arming_came_between(before) && arming_came_between(one), "one arms");
    arming_begin();
    uint64_t two = arming_moment();
    claim(arming_came_between(one) && arming_came_between(two), "two arm");
    arming_end();
    uint64_t left = arming_moment();
    claim(arming_came_between(two) && arming_came_between(left), "one of them still arms");
    arming_end();
    claim(arming_came_between(before) && arming_came_between(left), "they have armed");
    claim(!arming_came_between(arming_moment()), "nobody arms any more");
    return 0;
}
