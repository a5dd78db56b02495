/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_watch.h"

#include <string.h>

/* A look takes two latencies of the network, 0.1 ms over TCP: a part in 500 of what lies between two looks, at most. */
enum { STEPS_LEAST = 8, STEPS_MOST = 64, BETWEEN_LOOKS_NS = 64000000 };
/* A change is noticed after an eighth of the steps that were alike before it. Each one makes looks half as frequent,
 * and ALIKE_STEPS without any undo that: a program that never stays as it is tries little. */
enum { ALIKE_PART = 8, ALIKE_STEPS = 512, CHANGES_MOST = 9 };
/* Less than a part in NOISE_PART of a blocking call is none. */
enum { NOISE_PART = 8 };

static void watch_clear(struct collective_watch *watch)
{
    memset(watch->all, 0, sizeof watch->all);
    watch->all_stopped_ns = 0;
    watch->all_stopped_times = 0;
    watch->steps = 0;
}

void collective_watch_begin(struct collective_watch *watch)
{
    watch_clear(watch);
    watch->has_known = false;
}

void collective_watch_count_step(struct collective_watch *watch)
{
    watch->steps++;
}

void collective_watch_note_away(struct collective_watch *watch, int64_t away_ns)
{
    watch->sums[COLLECTIVE_WATCH_AWAY_NS] += away_ns;
    watch->sums[COLLECTIVE_WATCH_AWAY_TIMES]++;
}

bool collective_watch_is_due(const struct collective_watch *watch)
{
    return watch->interval != 0 && watch->steps >= watch->interval;
}

void collective_watch_take(struct collective_watch *watch, int64_t sums[COLLECTIVE_WATCH_SUMS])
{
    memcpy(sums, watch->sums, sizeof watch->sums);
    memset(watch->sums, 0, sizeof watch->sums);
}

static int64_t mean_of(int64_t sum_ns, int64_t times)
{
    return times == 0 ? 0 : sum_ns / times;
}

static bool is_twice(int64_t value_ns, int64_t other_ns, int64_t noise_ns)
{
    return value_ns > 2 * other_ns + noise_ns;
}

static bool means_differ(struct collective_watch_means known, struct collective_watch_means seen, int64_t noise_ns)
{
    return is_twice(seen.away_ns, known.away_ns, noise_ns) || is_twice(known.away_ns, seen.away_ns, noise_ns) ||
           is_twice(seen.stopped_ns, known.stopped_ns, noise_ns);
}

static void watch_note_change(struct collective_watch *watch)
{
    uint32_t undone = watch->steps_alike / ALIKE_STEPS;
    watch->changes = 1 + (watch->changes > undone ? watch->changes - undone : 0);
    watch->steps_alike = 0;
}

static bool watch_look(struct collective_watch *watch, struct collective_watch_means seen, int64_t noise_ns)
{
    bool is_change = watch->has_known && means_differ(watch->known, seen, noise_ns);
    watch->steps_alike += watch->steps;
    watch_clear(watch);
    if (!watch->has_known)
        watch->known = seen;
    watch->has_known = true;
    if (is_change)
        watch_note_change(watch);
    return is_change;
}

bool collective_watch_sees_change(struct collective_watch *watch, const int64_t sums[COLLECTIVE_WATCH_SUMS],
                                  int64_t stopped_ns, int64_t stopped_times, int64_t blocking_ns)
{
    for (int i = 0; i < COLLECTIVE_WATCH_SUMS; i++)
        watch->all[i] += sums[i];
    watch->all_stopped_ns += stopped_ns;
    watch->all_stopped_times += stopped_times;
    if (!collective_watch_is_due(watch))
        return false;
    struct collective_watch_means seen = {
        .away_ns = mean_of(watch->all[COLLECTIVE_WATCH_AWAY_NS], watch->all[COLLECTIVE_WATCH_AWAY_TIMES]),
        .stopped_ns = mean_of(watch->all_stopped_ns, watch->all_stopped_times),
    };
    return watch_look(watch, seen, blocking_ns / NOISE_PART);
}

static uint32_t watch_interval(const struct collective_watch *watch, int64_t step_ns)
{
    uint32_t changes = watch->changes < CHANGES_MOST ? watch->changes : CHANGES_MOST;
    uint32_t alike = watch->steps_alike / ALIKE_PART;
    uint32_t interval = (uint32_t)STEPS_LEAST << changes;
    alike = alike < STEPS_MOST ? alike : STEPS_MOST;
    interval = interval > alike ? interval : alike;
    int64_t cheap = BETWEEN_LOOKS_NS / step_ns;
    return interval > cheap ? interval : (uint32_t)cheap;
}

void collective_watch_plan(struct collective_watch *watch, int64_t blocking_ns, uint32_t step_calls)
{
    watch->interval = blocking_ns > 0 ? watch_interval(watch, blocking_ns * step_calls) : 0;
}
