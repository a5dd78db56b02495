/* SPDX-License-Identifier: MIT */
#include "engine/pace.h"

#include "base/clock.h"
#include "engine/pending.h"
#include "engine/strategy.h"

enum { NS_PER_US = 1000, POLLS_PER_EVENT = 4, POLLS_OF_SCHEDULE = 2 };
enum { SETTLE_ASSISTED_US = 100, SETTLE_OPS_US = 40, SETTLE_LONGEST_US = 1000 };
enum { NAP_FIRST_US = 100, NAP_LONGEST_US = 2000 };
enum { BULK_BYTES = 16384 };
enum { LONE_PART = 4, LONE_LONGEST_US = 2000 };
enum { GATHER_GROWTH_PART = 8 };
enum { SHARED_PART = 16, SHARED_LONGEST_US = 400, SHARED_SLEEP_US = 200 };

static struct {
    int64_t busy_since_ns; /* when the engine last left its parking place */
    int64_t settle_end_ns; /* the program is not waited for any longer, in this poll */
    int64_t nap_ns;
    int64_t slept_ns;  /* how long the last sleep was */
    int64_t woke_ns;   /* when it ended */
    int64_t gather_ns; /* how long data may gather, as fast as they came last */
    bool is_bulk;      /* the last wake-up found much to take in */
} pace;

static int64_t least_ns(int64_t one_ns, int64_t other_ns)
{
    return one_ns < other_ns ? one_ns : other_ns;
}

void engine_pace_start(void)
{
    pace.busy_since_ns = base_clock_now_ns();
    pace.nap_ns = engine_pending() == 0 ? SETTLE_ASSISTED_US * NS_PER_US : 0;
    pace.gather_ns = 0;
    pace.is_bulk = false;
}

void engine_pace_poll(void)
{
    pace.settle_end_ns = base_clock_now_ns() + SETTLE_LONGEST_US * NS_PER_US;
}

/* Until the program has begun all that belongs together: a poll between its
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
    if (unsettled_ns <= 0 || engine_pending_is_awaited())
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

/* Never much longer than before. Data seem to come slowly where the sender had nothing to send, since they had gathered
 * for too long. */
static void pace_learn_gather(int64_t gather_ns)
{
    int64_t longest_ns = pace.gather_ns + pace.gather_ns / GATHER_GROWTH_PART;
    pace.gather_ns = pace.gather_ns == 0 ? gather_ns : least_ns(gather_ns, longest_ns);
}

void engine_pace_slept(int64_t begin_ns, struct engine_sockets_waiting waiting)
{
    int64_t now_ns = base_clock_now_ns();
    pace.is_bulk = waiting.bytes >= BULK_BYTES;
    if (pace.is_bulk)
        pace_learn_gather(least_ns(now_ns - pace.woke_ns, LONE_LONGEST_US * NS_PER_US) * waiting.room_bytes /
                          waiting.bytes);
    pace.slept_ns = now_ns - begin_ns;
    pace.woke_ns = now_ns;
}

/* An op, that is one message, and nothing beside it. Else what a stream brings next may
 * be what another transfer waits for (two messages each way took 10 % longer), or the
 * end of a round of a nonblocking collective, whose next round then begins late. */
static bool pace_is_lone(void)
{
    return engine_pending_work() == 1 && !engine_pending_has_schedules() && !engine_strategy_is_polling();
}

/* A part of the time that the work has taken so far, so that short transfers are not held up. */
static int64_t pace_bearable_ns(void)
{
    int64_t elapsed_ns = base_clock_now_ns() - pace.busy_since_ns;
    if (pace_is_lone())
        return least_ns(elapsed_ns / LONE_PART, LONE_LONGEST_US * NS_PER_US);
    if (pace.slept_ns > SHARED_SLEEP_US * NS_PER_US)
        return 0;
    return least_ns(elapsed_ns / SHARED_PART, SHARED_LONGEST_US * NS_PER_US);
}

/* A message that flows at 1 Gb/s wakes its receiver every half millisecond, which
 * costs both sides some 50 us of their cores: more than taking in the data. While
 * nobody waits for it, let more gather, but no more than the sockets take in. */
int64_t engine_pace_rest_ns(void)
{
    if (!pace.is_bulk || engine_pending_is_awaited() || engine_strategy_is_idle())
        return 0;
    int64_t rest_ns = least_ns(pace_bearable_ns(), pace.gather_ns);
    /* A shorter rest than what the next data take to come is a wake-up more, not less. */
    return rest_ns > pace.slept_ns ? rest_ns : 0;
}

/* One test may only take a message in and leave the answer to the next (UCX
 * queues it): an event is worth a few polls, or the transfer would sit still
 * until something else wakes the engine. Seen with MPICH 4.0: 128 KiB took 3 ms
 * instead of 0.7. */
uint32_t engine_pace_polls_due(void)
{
    if (!pace.is_bulk)
        return POLLS_PER_EVENT;
    /* The poll that takes in a round's last data is not the one that begins the next
     * round of a nonblocking collective (Open MPI runs schedules before it reads its
     * sockets), and no event tells of that. */
    return engine_pending_has_schedules() ? POLLS_OF_SCHEDULE : 1;
}
