/* SPDX-License-Identifier: MIT */
#include "job/store.h"

#include <stdlib.h>

#include "job/pmi.h"
#include "job/pmix.h"

/* A launcher that keeps both, or a job of one that was started in the other's, is asked in the newer way. */
void store_offer(const char *text, bool speaks_pmi)
{
    if (getenv("PMIX_NAMESPACE") != NULL)
        pmix_offer(text);
    else if (speaks_pmi)
        pmi_offer(text);
}

bool store_is_settled(void)
{
    return pmix_is_settled() || pmi_is_settled();
}

bool store_is_same(int rank)
{
    return pmix_is_settled() ? pmix_is_same(rank) : pmi_is_same(rank);
}
