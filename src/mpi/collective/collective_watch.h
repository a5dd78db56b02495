/* SPDX-License-Identifier: MIT */
/* Has the program begun to do something else since its ranks chose how collectives go? Then what they have measured
 * says nothing any more, and they try all kinds again, long before a round is over.
 *
 * Two signs: the program computes for twice or half as long between its calls; or calls of the kind that was chosen
 * stop it for twice as long. The ranks look after so many calls that the looks cost nothing (a sum of a few numbers
 * each): ever more rarely while nothing changes, and more rarely after each change. */
#ifndef MPI_COLLECTIVE_WATCH_H
#define MPI_COLLECTIVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* What the ranks add up: the times from call to call. */
enum { COLLECTIVE_WATCH_NS, COLLECTIVE_WATCH_PERIODS, COLLECTIVE_WATCH_SUMS };

/* As struct collective_choice, of which it is a part. Zeroed: nothing is watched. */
struct collective_watch {
    int64_t begun_ns;                    /* the last call of this rank; 0: none */
    int64_t sums[COLLECTIVE_WATCH_SUMS]; /* of this rank, since the last look */
    uint32_t calls;                      /* since then */
    uint32_t interval;                   /* calls from look to look; 0: there are none */
    uint32_t calls_alike;                /* since the last change */
    uint32_t changes;
    int64_t between_ns; /* what the program computed between two calls when it was looked at first; 0: it was not */
};

/* Per call, of all ranks: how long the calls stopped the program in all, those of the chosen kind alone, and what was
 * known of these before, and of blocking ones. */
struct collective_watch_look {
    int64_t stopped_ns;
    int64_t chosen_ns;
    int64_t known_ns;
    int64_t blocking_ns;
};

/* A call begins. */
void collective_watch_note(struct collective_watch *watch, int64_t now_ns);

/* Must the ranks look before the next call? */
bool collective_watch_is_due(const struct collective_watch *watch);

/* What the rank has measured; then nothing. */
void collective_watch_take(struct collective_watch *watch, int64_t sums[COLLECTIVE_WATCH_SUMS]);

/* By the sums of all ranks: true when the program does something else. */
bool collective_watch_sees_change(struct collective_watch *watch, const int64_t sums[COLLECTIVE_WATCH_SUMS],
                                  const struct collective_watch_look *look);

/* When the ranks look next. blocking_ns: what a blocking call stops a rank for; 0: they do not look. */
void collective_watch_plan(struct collective_watch *watch, int64_t blocking_ns);

#endif
