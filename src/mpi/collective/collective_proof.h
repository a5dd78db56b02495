/* SPDX-License-Identifier: MIT */
/* Does an early return make the program faster, and not only its calls shorter? What is gained at calls and touches may
 * be lost between them: data that the engine has copied lie in another core's cache, and memory is slower while both
 * move data (16 cores, shared memory, 2 MiB: calls shorter, and the loop 1.25 times as long). So before early returns
 * are chosen, and now and then afterwards, one round compares the times from call to call.
 *
 * Its calls: blocking ones, of which the first only brings the ranks together, then early ones, of which the first is
 * not counted, and the last ends the time of those before it. */
#ifndef MPI_COLLECTIVE_PROOF_H
#define MPI_COLLECTIVE_PROOF_H

#include <stdbool.h>
#include <stdint.h>

/* An even number: what a program computes between its calls may alternate. */
enum { COLLECTIVE_PROOF_CALLS = 4, COLLECTIVE_PROOF_ROUND = 2 * COLLECTIVE_PROOF_CALLS + 3 };

/* What the ranks add up. */
enum {
    COLLECTIVE_PROOF_BLOCKING_NS,
    COLLECTIVE_PROOF_EARLY_NS,
    COLLECTIVE_PROOF_PERIODS, /* of each */
    COLLECTIVE_PROOF_SUMS,
};

/* Of this rank, in this round. As struct collective_choice, of which it is a part. */
struct collective_proof {
    int64_t begun_ns;
    int64_t sums[COLLECTIVE_PROOF_SUMS];
};

/* Is this call of the round a blocking one? */
bool collective_proof_is_blocking(uint32_t call);

/* This call of the round begins. */
void collective_proof_note(struct collective_proof *proof, uint32_t call, int64_t now_ns);

/* What the rank has measured; then nothing. */
void collective_proof_take(struct collective_proof *proof, int64_t sums[COLLECTIVE_PROOF_SUMS]);

/* How much longer a period with an early return takes, by the sums of all ranks; 0 where that is not worth a word. */
int64_t collective_proof_loss_ns(const int64_t sums[COLLECTIVE_PROOF_SUMS]);

#endif
