/* SPDX-License-Identifier: MIT */
#include "job/store.h"

#include <stdlib.h>

#include "job/pmix.h"

/* A launcher that keeps both, or a job of one that was started in the other's, is asked in the newer way. */
void store_offer(struct store *store, const char *text, bool speaks_pmi)
{
    if (getenv("PMIX_NAMESPACE") != NULL)
        pmix_offer(text);
    else if (speaks_pmi)
        pmi_offer(&store->pmi, text);
}

bool store_is_settled(const struct store *store)
{
    return pmix_is_settled() || pmi_is_settled(&store->pmi);
}

bool store_is_same(const struct store *store, int rank)
{
    return pmix_is_settled() ? pmix_is_same(rank) : pmi_is_same(&store->pmi, rank);
}
