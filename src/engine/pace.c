/* SPDX-License-Identifier: MIT */
#include "engine/pace.h"

#include "base/clock.h"
#include "engine/pending.h"

enum { NS_PER_US = 1000, LOOKS_PER_EVENT = 4, LOOKS_OF_SCHEDULE = 2 };
enum { SETTLE_ASSISTED_US = 100, SETTLE_OPS_US = 40, SETTLE_LONGEST_US = 1000 };
enum { NAP_FIRST_US = 100, NAP_LONGEST_US = 2000 };
enum { BULK_BYTES = 16384, REST_PART = 16, REST_LONGEST_US = 400, SLEEP_LONG_US = 200 };

static struct {
    int64_t busy_since_ns; /* when the engine last left its parking place */
    int64_t settle_end_ns; /* the program is not waited for any longer, in this look */
    int64_t nap_ns;
    int64_t slept_ns; /* how long the last sleep was */
    bool is_bulk;     /* the last wake-up found much to take in */
} pace;

static int64_t least_ns(int64_t one_ns, int64_t other_ns)
{
    return one_ns < other_ns ? one_ns : other_ns;
}

void engine_pace_start(void)
{
    pace.busy_since_ns = base_clock_now_ns();
    pace.nap_ns = engine_pending() == 0 ? SETTLE_ASSISTED_US * NS_PER_US : 0;
    pace.is_bulk = false;
}

void engine_pace_look(void)
{
    pace.settle_end_ns = base_clock_now_ns() + SETTLE_LONGEST_US * NS_PER_US;
}

/* Until the program has begun all that belongs together: a look between its
 * MPI_Irecv and its MPI_Isend, or between two calls of MPI_Sendrecv, may accept a
 * message whose data then goes out before what the program has yet to announce
 * (one socket for both ways). Seen: two messages of 4 MiB that cross took 69 ms
 * instead of 35. */
static int64_t pace_unsettled_ns(int64_t settle_us)
{
    return engine_pending_begun_last_ns() + settle_us * NS_PER_US - base_clock_now_ns();
}

/* A shorter while than for the program's own operations (100 us were no better): an op
 * is held inside the gate, so that time does not count, and a peer may wait for us. A
 * program that begins ops without end is not waited for any longer. */
int64_t engine_pace_settle_ns(void)
{
    int64_t unsettled_ns = pace_unsettled_ns(SETTLE_OPS_US);
    if (unsettled_ns <= 0 || engine_is_awaited())
        return 0;
    return base_clock_now_ns() < pace.settle_end_ns ? unsettled_ns : 0;
}

bool engine_pace_has_nap_to_settle(void)
{
    int64_t unsettled_ns = pace_unsettled_ns(SETTLE_ASSISTED_US);
    if (unsettled_ns > 0)
        pace.nap_ns = unsettled_ns;
    return unsettled_ns > 0;
}

int64_t engine_pace_nap_ns(void)
{
    return pace.nap_ns;
}

/* Ever longer while the program stays inside MPI: every message that it waits for
 * would wake this thread too. */
void engine_pace_nap_longer(void)
{
    int64_t next_ns = pace.nap_ns < NAP_FIRST_US * NS_PER_US ? NAP_FIRST_US * NS_PER_US : pace.nap_ns * 2;
    pace.nap_ns = least_ns(next_ns, NAP_LONGEST_US * NS_PER_US);
}

void engine_pace_nap_no_more(void)
{
    pace.nap_ns = 0;
}

void engine_pace_slept(int64_t slept_ns, uint32_t waiting_bytes)
{
    pace.slept_ns = slept_ns;
    pace.is_bulk = waiting_bytes >= BULK_BYTES;
}

/* A message that flows at some Gb/s wakes its receiver every 100 us for a third
 * of that time. While nobody waits for it, let more gather: a part of the time
 * that the ops have taken so far, so that short ones are not held up. */
int64_t engine_pace_rest_ns(void)
{
    if (!pace.is_bulk || pace.slept_ns > SLEEP_LONG_US * NS_PER_US || engine_is_awaited())
        return 0;
    return least_ns((base_clock_now_ns() - pace.busy_since_ns) / REST_PART, REST_LONGEST_US * NS_PER_US);
}

/* One test may only take a message in and leave the answer to the next (UCX
 * queues it): an event is worth a few looks, or the transfer would sit still
 * until something else wakes the engine. Seen with MPICH 4.0: 128 KiB took 3 ms
 * instead of 0.7. */
uint32_t engine_pace_looks_due(void)
{
    if (!pace.is_bulk)
        return LOOKS_PER_EVENT;
    /* The look that takes in a round's last data is not the one that begins the next
     * round of a nonblocking collective (Open MPI runs schedules before it reads its
     * sockets), and no event tells of that. */
    return engine_assists() ? LOOKS_OF_SCHEDULE : 1;
}
