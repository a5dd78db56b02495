/* SPDX-License-Identifier: MIT */
/* Has the program begun to do something else since its ranks chose how collectives go? Then what they have measured
 * says nothing any more, and they try all kinds again, long before a round is over.
 *
 * Two signs: the program is away for twice or half as long between its calls; or calls of the kind that was chosen stop
 * it for twice as long. The ranks look after so many steps that the looks cost nothing (a sum of a few numbers each):
 * ever more rarely while nothing changes, and more rarely after each change. What they compare with is what they saw
 * when they looked first. */
#ifndef MPI_COLLECTIVE_WATCH_H
#define MPI_COLLECTIVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* What the ranks add up: how long they were away, and how often. */
enum { COLLECTIVE_WATCH_AWAY_NS, COLLECTIVE_WATCH_AWAY_TIMES, COLLECTIVE_WATCH_SUMS };

/* Of all ranks, per call. */
struct collective_watch_means {
    int64_t away_ns;
    int64_t stopped_ns; /* by calls of the kind that was chosen */
};

/* As struct collective_choice, of which it is a part. Zeroed: nothing is watched. */
struct collective_watch {
    int64_t sums[COLLECTIVE_WATCH_SUMS]; /* of this rank, since the ranks last added up */
    int64_t all[COLLECTIVE_WATCH_SUMS];  /* of all ranks, since the last look */
    int64_t all_stopped_ns;
    int64_t all_stopped_times;
    uint32_t steps;       /* since the last look, that went as was chosen */
    uint32_t interval;    /* steps from look to look; 0: there are none */
    uint32_t steps_alike; /* since the last change */
    uint32_t changes;
    bool has_known; /* the ranks have looked since the kind was chosen */
    struct collective_watch_means known;
};

/* From here on calls go as was chosen. */
void collective_watch_begin(struct collective_watch *watch);

/* For so long the program computed between two calls; and a step is over that went as was chosen. */
void collective_watch_note_away(struct collective_watch *watch, int64_t away_ns);
void collective_watch_count_step(struct collective_watch *watch);

/* Must the ranks look before the next call? */
bool collective_watch_is_due(const struct collective_watch *watch);

/* What the rank has measured; then nothing. */
void collective_watch_take(struct collective_watch *watch, int64_t sums[COLLECTIVE_WATCH_SUMS]);

/* What the ranks have added up: how long they were away, and how long and how often the chosen kind stopped them.
 * blocking_ns: the same of a blocking call. True when they have looked, and the program does something else. */
bool collective_watch_sees_change(struct collective_watch *watch, const int64_t sums[COLLECTIVE_WATCH_SUMS],
                                  int64_t stopped_ns, int64_t stopped_times, int64_t blocking_ns);

/* When the ranks look next. blocking_ns: of a call, of which a step has so many; 0: they do not look. */
void collective_watch_plan(struct collective_watch *watch, int64_t blocking_ns, uint32_t step_calls);

#endif
