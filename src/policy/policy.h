/* SPDX-License-Identifier: MIT */
/* The policy: may this call return early? It compares prices, per call site (return
 * address, direction and size of the data): what ops brought there, and what holding cost.
 *
 * Several callers may share a site (a wrapper, a language binding), and a program may
 * change what it does beside its messages. So a site keeps its sums for each situation
 * in which its calls are made: how long the program stayed away from MPI after the call
 * before, and which buffer and tag it names. Both are free to see, on passed calls too.
 *
 * The table is shared by all threads without a lock: a site's numbers are
 * hints, and a lost update costs at most one sample. */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

enum policy_direction { POLICY_SEND = 0, POLICY_RECEIVE = 1, POLICY_NONBLOCKING = 2, POLICY_COLLECTIVE = 3 };

struct policy_site;

/* What becomes of a send's buffer: nobody may write it meanwhile; or the program gets
 * copies of the pages that it touches, at the touch; or all of it is copied before. */
enum policy_send { POLICY_HOLD, POLICY_COPY_TOUCHED, POLICY_COPY };

/* Once, at start. `send_buffers`: auto, or the way of all sends, whatever is learnt. */
void policy_configure(bool learns, enum option_send_buffers send_buffers);

/* At the end of MPI_Init, about the same moment on all ranks. */
void policy_start(int64_t now_ns);

/* The site of a call; NULL when the table is full (then nothing is learnt). One
 * place in the program is several sites when it moves very different sizes: what
 * its small messages teach must not keep its large ones from being overlapped. */
struct policy_site *policy_site_find(const void *return_address, enum policy_direction direction, uint64_t bytes);

/* The return address of its calls; NULL for no site. */
const void *policy_site_place(const struct policy_site *site);

/* What is free to see before a call of the site. */
uint32_t policy_site_situation(const struct policy_site *site, const void *buffer, int tag);

/* After the thread's last call, passed or not, the program stayed away from MPI for so long: no less than its slack.
 * sites: of that call, one for each of its halves (MPI_Sendrecv); NULL: none. */
enum { POLICY_HALVES = 2 };
struct policy_away {
    struct policy_site *sites[POLICY_HALVES];
    int64_t away_ns;
};

void policy_saw_away(const struct policy_away *away);

/* A call that may return early, or whose wait may. away: what is to be learnt first. place: the return address, of a
 * Fortran binding's caller (op/call_site.h). is_engine_dear: engine_is_dear(), asked where no peer was late. */
struct policy_call {
    struct policy_away away;
    const void *place;
    const void *thread; /* an address that tells threads apart */
    int64_t now_ns;
    enum policy_direction direction;
    uint64_t bytes;
    const void *buffer;
    int tag;
    bool (*is_engine_dear)(void);
};

/* site, situation: under which to learn what comes of it. starts_apart: a receive's start is to be left to the engine,
 * since it takes long at this site (policy_site_saw_start()). */
struct policy_answer {
    struct policy_site *site;
    uint32_t situation;
    bool is_allowed;
    bool starts_apart;
};

struct policy_answer policy_ask(const struct policy_call *call);

/* May the call return early? When that is expected to pay, but now and then, to see what waiting takes; where the hold
 * costs next to nothing beside its transfer; and now and then, to see what it would bring. */
bool policy_site_allows(struct policy_site *site, uint32_t situation);

/* Where the engine is dear (engine.h) an op saves no more than waiting for a peer that is late. Did calls of this
 * situation that waited take longer than copying their bytes does? No, too, where none has waited yet. */
bool policy_site_saw_late_peer(const struct policy_site *site, uint32_t situation, uint64_t bytes);

/* What one op brought: time that the program ran on after the early return (waits not
 * counted), what holding and waking cost, how long the op was under way, and what the engine took meanwhile of a core
 * that computes, if cost_ns does not have it. */
struct policy_outcome {
    int64_t overlapped_ns;
    int64_t cost_ns;
    int64_t transfer_ns;
    int64_t engine_ns;
    bool is_late; /* nothing woke the engine: the op may have been over long before it looked */
};

void policy_site_learn(struct policy_site *site, uint32_t situation, struct policy_outcome outcome);

/* A nonblocking operation, whose slack is seen whether or not it was helped; to help it costs so much. */
void policy_site_saw_slack(struct policy_site *site, uint32_t situation, int64_t slack_ns, int64_t cost_ns);

/* Shall the engine carry on a nonblocking operation? Where that is expected to pay, but now and then. */
bool policy_site_helps(struct policy_site *site, uint32_t situation);

/* What came of a nonblocking operation where the engine is dear (engine.h): the slack, how long the program then
 * waited, and what helping cost; of no interest where it was not helped. */
struct policy_help {
    bool is_helped;
    int64_t slack_ns;
    int64_t waited_ns;
    int64_t cost_ns;
};

void policy_site_saw_help(struct policy_site *site, uint32_t situation, struct policy_help help);

/* MPI took so long to start a receive of the site: no more than to look for its message, or as long as all its data
 * take to come. */
void policy_site_saw_start(struct policy_site *site, int64_t start_ns);

/* A call that waited although it might have returned early took so long inside MPI. */
void policy_site_saw_pass(struct policy_site *site, uint32_t situation, int64_t inside_ns);

/* The same as policy_saw_away(), of one site. */
void policy_site_saw_away(struct policy_site *site, int64_t away_ns);

/* A send of the site went this way, and the program then waited so long for its
 * buffer; copying the message would have cost so much. */
void policy_site_learn_wait(struct policy_site *site, enum policy_send way, int64_t waited_ns, int64_t copy_ns);

/* The way of this send. Now and then it is held, to see whether the program still waits. */
enum policy_send policy_site_send(struct policy_site *site);

#endif
