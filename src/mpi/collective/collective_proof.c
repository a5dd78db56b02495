/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_proof.h"

#include <string.h>

enum {
    BLOCKING_FIRST = 1,
    BLOCKING_END = BLOCKING_FIRST + COLLECTIVE_PROOF_CALLS,
    EARLY_FIRST = BLOCKING_END + 1,
    EARLY_END = EARLY_FIRST + COLLECTIVE_PROOF_CALLS,
};
/* A loss of less than a part in LOSS_PART is noise. */
enum { LOSS_PART = 64 };

bool collective_proof_is_blocking(uint32_t call)
{
    return call < BLOCKING_END;
}

void collective_proof_note(struct collective_proof *proof, uint32_t call, int64_t now_ns)
{
    if (call == BLOCKING_END)
        proof->sums[COLLECTIVE_PROOF_BLOCKING_NS] = now_ns - proof->begun_ns;
    if (call == EARLY_END) {
        proof->sums[COLLECTIVE_PROOF_EARLY_NS] = now_ns - proof->begun_ns;
        proof->sums[COLLECTIVE_PROOF_PERIODS] = COLLECTIVE_PROOF_CALLS;
    }
    if (call == BLOCKING_FIRST || call == EARLY_FIRST)
        proof->begun_ns = now_ns;
}

void collective_proof_take(struct collective_proof *proof, int64_t sums[COLLECTIVE_PROOF_SUMS])
{
    memcpy(sums, proof->sums, sizeof proof->sums);
    *proof = (struct collective_proof){0};
}

int64_t collective_proof_loss_ns(const int64_t sums[COLLECTIVE_PROOF_SUMS])
{
    int64_t blocking_ns = sums[COLLECTIVE_PROOF_BLOCKING_NS];
    int64_t loss_ns = sums[COLLECTIVE_PROOF_EARLY_NS] - blocking_ns;
    bool is_loss = sums[COLLECTIVE_PROOF_PERIODS] != 0 && loss_ns > blocking_ns / LOSS_PART;
    return is_loss ? loss_ns / sums[COLLECTIVE_PROOF_PERIODS] : 0;
}
