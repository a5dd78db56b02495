/* SPDX-License-Identifier: MIT */
/* Claim: a site whose program waits for its buffers prefers copies, is held again
 * after a while to see whether it still does, and then stays with holds. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/claim.h"
#include "policy/policy.h"

int main(void)
{
    int copies = 0;
    policy_configure(true);
    struct policy_site *site = policy_site_find(&copies, POLICY_SEND, 1 << 20);
    claim(!policy_site_prefers_copy(site), "nothing is known: hold");
    policy_site_learn_wait(site, 1500, 1000);
    claim(!policy_site_prefers_copy(site), "a copy would have cost about as much");
    policy_site_learn_wait(site, 100000, 1000);
    while (policy_site_prefers_copy(site) && copies < 100000)
        copies++;
    claim(copies > 1, "the wait was far dearer than a copy");
    claim(copies < 100000, "held again to see");
    claim(!policy_site_prefers_copy(site), "nobody waited: hold");
    policy_site_learn_wait(site, 100000, 1000);
    policy_configure(false);
    claim(!policy_site_prefers_copy(site), "nothing is learnt: hold");
    claim(!policy_site_prefers_copy(NULL), "a full table: hold");
    return 0;
}
