/* SPDX-License-Identifier: MIT */
#include "job/store.h"

#include <stdlib.h>

#include "job/offer.h"
#include "job/pmi.h"
#include "job/pmix.h"

/* A launcher that keeps both, or a job of one that was started in the other's, is asked in the newer way. */
static bool is_pmix(void)
{
    return getenv("PMIX_NAMESPACE") != NULL;
}

void store_offer(const char *text, bool speaks_pmi)
{
    offer.text = text;
    if (is_pmix())
        pmix_offer();
    else if (speaks_pmi)
        pmi_offer();
}

/* PMI_JOBID: Slurm's second version of PMI. */
const char *store_launch(void)
{
    const char *name = is_pmix() ? getenv("PMIX_NAMESPACE") : getenv("PMI_JOBID");
    return name == NULL || offer.store[0] != '\0' ? offer.store : name;
}

bool store_is_same(int rank)
{
    return is_pmix() ? pmix_is_same(rank) : pmi_is_same(rank);
}

/* What is not there for this rank itself is there for nobody, and nothing is offered from now on. */
bool store_is_settled(void)
{
    pmi_end();
    bool is_settled = offer.is_there && store_is_same(offer.rank);
    if (!is_settled)
        offer.text = NULL;
    return is_settled;
}
