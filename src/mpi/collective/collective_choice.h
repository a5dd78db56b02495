/* SPDX-License-Identifier: MIT */
/* How shall these collectives be begun: by MPI's own blocking function, as a nonblocking one, or as several, piece by
 * piece? All ranks of a communicator ask the same questions in the same order, and hear what all of them have measured:
 * so they choose alike.
 *
 * A choice is made for one function and size. Its calls come in rounds of steps: of so many calls as the program makes
 * before it computes (collective_step.h), or of one. In a round most steps go as was chosen, and one goes each other
 * way (of blocking ones two), for comparison; at its end the ranks add up for how long their programs
 * were stopped by calls of each kind, at touches too, and choose again.
 *
 * Before early returns are chosen, and now and then afterwards, a round looks at the time between steps, too
 * (collective_proof.h). Where blocking calls are over sooner than pages can be held, nothing is tried; some choices
 * begin with blocking calls, to find that out.
 *
 * In long rounds they look now and then whether the program does something else by now (collective_watch.h). Then they
 * try all kinds again.
 *
 * They also say whether a rank had to wait inside the call because its buffer shares a page with other data. From then
 * on the edges of blocks go first (collective_cut.h), and the choice is made anew. */
#ifndef MPI_COLLECTIVE_CHOICE_H
#define MPI_COLLECTIVE_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/collective/collective_proof.h"
#include "mpi/collective/collective_step.h"
#include "mpi/collective/collective_watch.h"

enum collective_choice_kind {
    COLLECTIVE_CHOICE_BLOCKING,
    COLLECTIVE_CHOICE_WHOLE,
    COLLECTIVE_CHOICE_PIECES,
    COLLECTIVE_CHOICE_KINDS,
};

/* What the ranks add up. Of each kind: time stopped, and number of calls. Then: how many ranks share edges; how many
 * are stopped by blocking calls for longer than holds take; what a proof and a watch found, and the steps. */
enum {
    COLLECTIVE_CHOICE_SHARERS = 2 * COLLECTIVE_CHOICE_KINDS,
    COLLECTIVE_CHOICE_STOPPED,
    COLLECTIVE_CHOICE_PROOF,
    COLLECTIVE_CHOICE_WATCH = COLLECTIVE_CHOICE_PROOF + COLLECTIVE_PROOF_SUMS,
    COLLECTIVE_CHOICE_STEP = COLLECTIVE_CHOICE_WATCH + COLLECTIVE_WATCH_SUMS,
    COLLECTIVE_CHOICE_SUMS = COLLECTIVE_CHOICE_STEP + COLLECTIVE_STEP_SUMS,
};

/* Listening: blocking calls alone. First: all kinds in turn. Proving: see collective_proof.h. */
enum collective_choice_round {
    COLLECTIVE_CHOICE_NONE, /* no call yet */
    COLLECTIVE_CHOICE_LISTENING,
    COLLECTIVE_CHOICE_FIRST,
    COLLECTIVE_CHOICE_PROVING,
    COLLECTIVE_CHOICE_LATER,
};

/* Written by threads that call the communicator's collectives, one after the other (MPI 4.1, 6.1); the sums by whoever
 * ends an op, too. */
struct collective_choice {
    uint32_t key;          /* function and size; 0: free */
    uint32_t step_calls;   /* of a step; written first by the first call */
    uint32_t step_call;    /* number of the next call in its step */
    uint32_t step;         /* number of that step in the round */
    uint32_t step_changes; /* of step_calls */
    enum collective_choice_round round;
    uint32_t round_length;    /* in steps */
    uint32_t early_rounds;    /* since the last proof */
    uint32_t blocking_length; /* of the last round of blocking calls since early returns paid; 0: there was none */
    uint32_t early_length;    /* the same of early returns */
    enum collective_choice_kind chosen;
    enum collective_choice_kind last; /* of this rank's calls */
    /* The last call was a blocking one, and so was the one before. The first of a row finds the ranks apart, and what
     * crosses then takes turns (43 instead of 20 ms for 2.25 MiB, Open MPI 4.1 over TCP). */
    bool follows_blocking;
    bool listens_first; /* written before the first call */
    bool is_brief;      /* blocking calls stop no rank for longer than holds take */
    bool has_edges;     /* they go first, on all ranks */
    bool shares_edges;  /* a buffer of this rank did in this round, and could have been held but for these */
    int64_t means_ns[COLLECTIVE_CHOICE_KINDS]; /* per call, of all ranks; 0: not known */
    int64_t hidden_ns;                         /* what an early return costs between calls, by the last proof */
    struct collective_proof proof;
    struct collective_watch watch;
    struct collective_step steps;
    int64_t returned_ns; /* from the last call of this rank */
    bool has_returned;
    int64_t round_sums[COLLECTIVE_CHOICE_SUMS];      /* of all ranks, in this round, up to the last look */
    _Atomic int64_t sums[COLLECTIVE_CHOICE_SHARERS]; /* of this rank, since then */
};

/* Is the round over, or must the ranks look whether the program does something else, so that they must add up their
 * sums? Then collective_choice_take() the rank's own, and
 * collective_choice_agree() upon those of all. Before collective_choice_next(). */
bool collective_choice_is_due(const struct collective_choice *choice);
void collective_choice_take(struct collective_choice *choice, int64_t sums[COLLECTIVE_CHOICE_SUMS]);
void collective_choice_agree(struct collective_choice *choice, const int64_t sums[COLLECTIVE_CHOICE_SUMS]);

/* How the next call goes, which begins now. And it returns to the program. ran_ns: a clock that stands still while the
 * program is stopped. */
enum collective_choice_kind collective_choice_next(struct collective_choice *choice, int64_t now_ns, int64_t ran_ns);
void collective_choice_note_return(struct collective_choice *choice, int64_t ran_ns);

/* A call of this kind stopped the program for so long, or slowed it down by as much: the engine works on the program's
 * core. Any thread. */
void collective_choice_learn(struct collective_choice *choice, enum collective_choice_kind kind, int64_t stopped_ns);

#endif
