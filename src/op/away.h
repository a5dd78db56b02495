/* SPDX-License-Identifier: MIT */
/* How long the program stays away from MPI after each of its large blocking calls: the
 * policy sees there, also on passed calls, that a program has begun or ceased to compute
 * beside its messages. The next call that tells it is the thread's next large one: small
 * calls go straight to MPI, and read no clock. */
#ifndef OP_AWAY_H
#define OP_AWAY_H

#include "policy/policy.h"

/* A large blocking call has begun, or a half of MPI_Sendrecv. What the policy is to hear of the time before it. */
struct policy_away away_end(void);

/* It is of this site. */
void away_note_site(struct policy_site *site);

/* The same, with what the policy answers: of a message that is passed the time inside MPI is noted. */
void away_note(const struct policy_answer *answer);

/* Whatever call of the program it is returns now; nothing happens after one that is small. */
void away_begin(void);

#endif
