/* SPDX-License-Identifier: MIT */
/* The policy: may this call return early? It learns per call site (return
 * address, direction and size of the data): a site whose ops bring nothing is
 * passed for a while, then sampled again, ever more rarely.
 *
 * The table is shared by all threads without a lock: a site's numbers are
 * hints, and a lost update costs at most one sample. */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

enum policy_direction { POLICY_SEND = 0, POLICY_RECEIVE = 1, POLICY_NONBLOCKING = 2 };

struct policy_site;

/* What becomes of a send's buffer: nobody may write it meanwhile; or the program gets
 * copies of the pages that it touches, at the touch; or all of it is copied before. */
enum policy_send { POLICY_HOLD, POLICY_COPY_TOUCHED, POLICY_COPY };

/* Once, at start. `send_buffers`: auto, or the way of all sends, whatever is learnt. */
void policy_configure(bool learns, enum option_send_buffers send_buffers);

/* The site of a call; NULL when the table is full (then nothing is learnt). One
 * place in the program is several sites when it moves very different sizes: what
 * its small messages teach must not keep its large ones from being overlapped. */
struct policy_site *policy_site_find(const void *return_address, enum policy_direction direction, uint64_t bytes);

/* False while the site is being passed because of what it learnt. */
bool policy_site_allows(struct policy_site *site);

/* A send of the site went this way, and the program then waited so long for its
 * buffer; copying the message would have cost so much. */
void policy_site_learn_wait(struct policy_site *site, enum policy_send way, int64_t waited_ns, int64_t copy_ns);

/* The way of this send. Now and then it is held, to see whether the program still waits. */
enum policy_send policy_site_send(struct policy_site *site);

/* What one op of the site brought: time that the program ran on after the early
 * return (waits not counted) against the time that holding and waking cost. */
void policy_site_learn(struct policy_site *site, int64_t overlapped_ns, int64_t cost_ns);

#endif
