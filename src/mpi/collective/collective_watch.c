/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_watch.h"

#include <string.h>

/* A look takes two latencies of the network, 0.1 ms over TCP: a part in 500 of what lies between two looks, at most. */
enum { CALLS_LEAST = 8, CALLS_MOST = 64, BETWEEN_LOOKS_NS = 64000000 };
/* A change is noticed after an eighth of the calls that were alike before it. Each one makes looks half as frequent,
 * and ALIKE_CALLS without any undo that: a program that never stays as it is tries little. */
enum { ALIKE_PART = 8, ALIKE_CALLS = 512, CHANGES_MOST = 9 };
/* Less than a part in NOISE_PART of a blocking call is none. */
enum { NOISE_PART = 8 };

void collective_watch_note(struct collective_watch *watch, int64_t now_ns)
{
    if (watch->begun_ns != 0) {
        watch->sums[COLLECTIVE_WATCH_NS] += now_ns - watch->begun_ns;
        watch->sums[COLLECTIVE_WATCH_PERIODS]++;
    }
    watch->begun_ns = now_ns;
    watch->calls++;
}

bool collective_watch_is_due(const struct collective_watch *watch)
{
    return watch->interval != 0 && watch->calls >= watch->interval;
}

void collective_watch_take(struct collective_watch *watch, int64_t sums[COLLECTIVE_WATCH_SUMS])
{
    memcpy(sums, watch->sums, sizeof watch->sums);
    memset(watch->sums, 0, sizeof watch->sums);
}

static bool is_twice(int64_t value_ns, int64_t other_ns, int64_t noise_ns)
{
    return value_ns > 2 * other_ns + noise_ns;
}

static bool watch_between_changed(struct collective_watch *watch, int64_t between_ns, int64_t noise_ns)
{
    if (watch->between_ns == 0)
        watch->between_ns = between_ns > 0 ? between_ns : 1;
    return is_twice(between_ns, watch->between_ns, noise_ns) || is_twice(watch->between_ns, between_ns, noise_ns);
}

static void watch_note_change(struct collective_watch *watch)
{
    uint32_t undone = watch->calls_alike / ALIKE_CALLS;
    watch->changes = 1 + (watch->changes > undone ? watch->changes - undone : 0);
    watch->calls_alike = 0;
    watch->between_ns = 0;
}

bool collective_watch_sees_change(struct collective_watch *watch, const int64_t sums[COLLECTIVE_WATCH_SUMS],
                                  const struct collective_watch_look *look)
{
    if (watch->interval == 0 || sums[COLLECTIVE_WATCH_PERIODS] == 0)
        return false;
    int64_t noise_ns = look->blocking_ns / NOISE_PART;
    int64_t between_ns = sums[COLLECTIVE_WATCH_NS] / sums[COLLECTIVE_WATCH_PERIODS] - look->stopped_ns;
    bool is_change =
        watch_between_changed(watch, between_ns, noise_ns) || is_twice(look->chosen_ns, look->known_ns, noise_ns);
    watch->calls_alike += watch->calls;
    if (is_change)
        watch_note_change(watch);
    return is_change;
}

static uint32_t watch_interval(const struct collective_watch *watch, int64_t blocking_ns)
{
    uint32_t changes = watch->changes < CHANGES_MOST ? watch->changes : CHANGES_MOST;
    uint32_t alike = watch->calls_alike / ALIKE_PART;
    uint32_t interval = (uint32_t)CALLS_LEAST << changes;
    alike = alike < CALLS_MOST ? alike : CALLS_MOST;
    interval = interval > alike ? interval : alike;
    int64_t cheap = BETWEEN_LOOKS_NS / blocking_ns;
    return interval > cheap ? interval : (uint32_t)cheap;
}

void collective_watch_plan(struct collective_watch *watch, int64_t blocking_ns)
{
    watch->interval = blocking_ns > 0 ? watch_interval(watch, blocking_ns) : 0;
    watch->calls = 0;
}
