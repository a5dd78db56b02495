/* SPDX-License-Identifier: MIT */
/* Claim: a site whose program waits for its buffers gets copies of what it touches, or
 * of all where that is cheap or did not help; it is held again after a while to see
 * whether it still waits, and then stays with holds. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/claim.h"
#include "policy/policy.h"

enum { CHEAP_NS = 1000, DEAR_NS = 1000000, MANY = 100000 };

static struct policy_site *site_new(int number)
{
    static char places[8];
    return policy_site_find(&places[number], POLICY_SEND, 1 << 20);
}

static int sends_until_held(struct policy_site *site, enum policy_send way)
{
    int count = 0;
    while (count < MANY && policy_site_send(site) == way)
        count++;
    return count;
}

static void cheap_copies(void)
{
    struct policy_site *site = site_new(0);
    claim(policy_site_send(site) == POLICY_HOLD, "nothing is known: hold");
    policy_site_learn_wait(site, POLICY_HOLD, CHEAP_NS * 3 / 2, CHEAP_NS);
    claim(policy_site_send(site) == POLICY_HOLD, "a copy would have cost about as much");
    policy_site_learn_wait(site, POLICY_HOLD, CHEAP_NS * 100, CHEAP_NS);
    int copies = sends_until_held(site, POLICY_COPY);
    claim(copies > 1, "the wait was far dearer than a copy");
    claim(copies < MANY, "held again to see");
    claim(policy_site_send(site) == POLICY_HOLD, "nobody waited: hold");
}

static void dear_copies(void)
{
    struct policy_site *site = site_new(1);
    policy_site_learn_wait(site, POLICY_HOLD, DEAR_NS * 100L, DEAR_NS);
    claim(policy_site_send(site) == POLICY_COPY_TOUCHED, "to copy all would delay the message");
    policy_site_learn_wait(site, POLICY_COPY_TOUCHED, DEAR_NS, DEAR_NS);
    int sends = sends_until_held(site, POLICY_COPY_TOUCHED);
    claim(sends > 1 && sends < MANY, "a short wait in spite of it changes nothing; held again to see");
    policy_site_learn_wait(site, POLICY_COPY_TOUCHED, DEAR_NS * 100L, DEAR_NS);
    claim(policy_site_send(site) == POLICY_COPY, "too much is touched: all is copied");
    sends_until_held(site, POLICY_COPY);
    policy_site_learn_wait(site, POLICY_HOLD, DEAR_NS * 100L, DEAR_NS);
    claim(policy_site_send(site) == POLICY_COPY, "what did not help is not tried again at once");
    for (int row = 0; row < 100; row++)
        policy_site_learn_wait(site, POLICY_HOLD, DEAR_NS * 100L, DEAR_NS);
    claim(policy_site_send(site) == POLICY_COPY_TOUCHED, "but some day");
}

static void nothing_learnt(void)
{
    struct policy_site *site = site_new(2);
    policy_site_learn_wait(site, POLICY_HOLD, CHEAP_NS * 100, CHEAP_NS);
    policy_configure(false, OPTION_SEND_BUFFERS_AUTO);
    claim(policy_site_send(site) == POLICY_HOLD, "nothing is learnt: hold");
    claim(policy_site_send(NULL) == POLICY_HOLD, "a full table: hold");
    policy_configure(false, OPTION_SEND_BUFFERS_COPY_TOUCHED);
    claim(policy_site_send(site) == POLICY_COPY_TOUCHED, "as the user wants it");
}

int main(void)
{
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    cheap_copies();
    dear_copies();
    nothing_learnt();
    return 0;
}
