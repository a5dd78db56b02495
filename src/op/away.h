/* SPDX-License-Identifier: MIT */
/* How long the program stays away from MPI after each of its large blocking calls: the
 * policy sees there, also on passed calls, that a program has begun or ceased to compute
 * beside its messages. The next call that tells it is the thread's next large one: small
 * calls go straight to MPI, and read no clock. */
#ifndef OP_AWAY_H
#define OP_AWAY_H

#include <stdint.h>

struct policy_site;

/* A large blocking call of this site has begun; of MPI_Sendrecv once for each half. */
void away_end(struct policy_site *site);

/* That site's message is passed because of what was learnt: the time inside MPI is noted. */
void away_note_pass(struct policy_site *site, uint32_t situation);

/* Whatever call of the program it is returns now; nothing happens after one that is small. */
void away_begin(void);

#endif
