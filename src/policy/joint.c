/* SPDX-License-Identifier: MIT */
#include "policy/joint.h"

#include <stddef.h>

/* The time since MPI_Init, cut where it has doubled: octave k lasts from 2^k to 2^(k+1) ns. What a joint trial takes of
 * its octave, from its beginning: one part in TRIAL_PART at most. */
enum { TRIAL_PART = 8, TURNS_LEAST = 16, TURNS_MOST = 32 };
/* A turn is as long as a power of two that holds so many calls of the reference: the same length on ranks whose calls
 * come about as often. */
enum { TURN_CALLS = 4, TURN_LEAST_NS = 1 << 22, CALLS_COUNTED = 3 };
/* What is doubtful brings little, if anything: to wait in vain until the next trial loses no more than that. */
#define ERRORS_LEAST 2.0
/* Calls that would bring so many times as much as those that were slower are other calls. */
enum { NEWS_FACTOR = 2 };
enum { WAITS_BETWEEN_LOOKS = 256 };

static int64_t joint_age_ns(const struct joint *joint, int64_t now_ns)
{
    int64_t start_ns = atomic_load_explicit(&joint->start_ns, memory_order_relaxed);
    return start_ns == 0 || now_ns <= start_ns ? 0 : now_ns - start_ns;
}

/* 0: none. */
static uint32_t octave_of(int64_t age_ns)
{
    enum { BITS = 63 };
    return age_ns <= 0 ? 0 : (uint32_t)(BITS - __builtin_clzll((uint64_t)age_ns));
}

static int64_t octave_age_ns(int64_t age_ns)
{
    return age_ns - (INT64_C(1) << octave_of(age_ns));
}

/* The turn in which a call lies: below 0 or from `turns` on where no joint trial runs. */
static int64_t joint_turn(const struct joint *joint, int64_t age_ns)
{
    if (octave_of(age_ns) != atomic_load_explicit(&joint->octave, memory_order_acquire))
        return -1;
    return octave_age_ns(age_ns) / atomic_load_explicit(&joint->length_ns, memory_order_relaxed);
}

static bool joint_runs_at(const struct joint *joint, int64_t age_ns)
{
    if (atomic_load_explicit(&joint->reference, memory_order_relaxed) == NULL)
        return false;
    int64_t turn = joint_turn(joint, age_ns);
    return turn >= 0 && turn < atomic_load_explicit(&joint->turns, memory_order_relaxed);
}

/* Early, waiting, waiting, early, and again: each pair begins with the other, against drift. */
static bool turn_is_early(int64_t turn)
{
    return (turn + 1) / 2 % 2 == 0;
}

static int64_t turn_length_ns(int64_t period_ns)
{
    int64_t length_ns = TURN_LEAST_NS;
    while (length_ns < TURN_CALLS * period_ns)
        length_ns *= 2;
    return length_ns;
}

/* 0: its octave has no time for it. */
static uint32_t turns_possible(int64_t age_ns, int64_t length_ns)
{
    int64_t most_ns = (INT64_C(1) << octave_of(age_ns)) / TRIAL_PART;
    uint32_t turns = TURNS_MOST;
    while (turns * length_ns > most_ns)
        turns /= 2;
    return turns >= TURNS_LEAST && octave_age_ns(age_ns) < turns * length_ns ? turns : 0;
}

static bool joint_is_of(const struct joint *joint, const struct joint_call *call)
{
    return atomic_load_explicit(&joint->reference, memory_order_relaxed) == call->subject &&
           atomic_load_explicit(&joint->thread, memory_order_relaxed) == call->thread;
}

/* acquire, release: who claims the next one writes what this thread has read. */
static bool joint_claim(struct joint *joint, const struct joint_call *call)
{
    struct joint_subject *running = atomic_load_explicit(&joint->reference, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&joint->reference, &running, call->subject, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void joint_begin(struct joint *joint, const struct joint_call *call, int64_t period_ns)
{
    int64_t age_ns = joint_age_ns(joint, call->now_ns);
    int64_t length_ns = turn_length_ns(period_ns);
    uint32_t turns = turns_possible(age_ns, length_ns);
    if (turns == 0 || !joint_claim(joint, call))
        return;
    atomic_store_explicit(&joint->thread, call->thread, memory_order_relaxed);
    atomic_store_explicit(&joint->length_ns, length_ns, memory_order_relaxed);
    atomic_store_explicit(&joint->turns, turns, memory_order_relaxed);
    joint->turn = -1;
    joint->calls = 0;
    joint->first_period_ns = 0;
    joint->pairs = (struct differences){0};
    /* Last: who sees the octave divides by the length of its turns. */
    atomic_store_explicit(&joint->octave, octave_of(age_ns), memory_order_release);
}

static double joint_period_ns(const struct joint *joint)
{
    return joint->calls < CALLS_COUNTED ? 0 : (double)(joint->last_ns - joint->first_ns) / (joint->calls - 2);
}

static void joint_add_pair(struct joint *joint, double second_period_ns)
{
    if (joint->first_period_ns == 0 || second_period_ns == 0)
        return;
    if (turn_is_early(joint->turn))
        differences_add(&joint->pairs, second_period_ns, joint->first_period_ns);
    else
        differences_add(&joint->pairs, joint->first_period_ns, second_period_ns);
}

static void joint_end_turn(struct joint *joint, int64_t next)
{
    double period_ns = joint_period_ns(joint);
    if (joint->turn % 2 != 0)
        joint_add_pair(joint, period_ns);
    joint->first_period_ns = joint->turn % 2 == 0 && next == joint->turn + 1 ? period_ns : 0;
    joint->turn = next;
    joint->calls = 0;
}

static void joint_count(struct joint *joint, int64_t now_ns, int64_t turn)
{
    if (turn != joint->turn)
        joint_end_turn(joint, turn);
    joint->last_ns = now_ns;
    if (++joint->calls == 2)
        joint->first_ns = now_ns;
}

/* Calls that had to wait go on waiting where the difference is the same, be it certain or not. */
static bool joint_is_slower(const struct joint *joint)
{
    uint32_t before = atomic_load_explicit(&joint->slower_octave, memory_order_relaxed);
    bool had_to_wait = before != 0 && before + 1 == atomic_load_explicit(&joint->octave, memory_order_relaxed);
    return joint->pairs.count > 2 && joint->pairs.mean > 0 &&
           (had_to_wait || differences_are_clear(&joint->pairs, ERRORS_LEAST));
}

static void joint_end(struct joint *joint)
{
    joint_end_turn(joint, -1);
    if (joint_is_slower(joint))
        atomic_store_explicit(&joint->slower_octave, atomic_load_explicit(&joint->octave, memory_order_relaxed),
                              memory_order_relaxed);
    atomic_store_explicit(&joint->reference, NULL, memory_order_release);
}

static void subject_take_part(const struct joint *joint, const struct joint_call *call)
{
    struct joint_subject *subject = call->subject;
    atomic_store_explicit(&subject->octave, atomic_load_explicit(&joint->octave, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&subject->away, call->away, memory_order_relaxed);
    atomic_store_explicit(&subject->worth_ns, call->worth_ns, memory_order_relaxed);
}

/* The time away often lies where two of its classes meet. */
static bool call_is_as_far_away(const struct joint_call *call)
{
    uint32_t then = atomic_load_explicit(&call->subject->away, memory_order_relaxed);
    return call->away <= then + 1 && then <= call->away + 1;
}

/* A verdict holds for its octave. */
static bool call_is_slower(const struct joint *joint, const struct joint_call *call, uint32_t octave)
{
    const struct joint_subject *subject = call->subject;
    return octave == atomic_load_explicit(&joint->slower_octave, memory_order_relaxed) &&
           octave == atomic_load_explicit(&subject->octave, memory_order_relaxed) && call_is_as_far_away(call) &&
           call->worth_ns < NEWS_FACTOR * atomic_load_explicit(&subject->worth_ns, memory_order_relaxed);
}

/* One in many returns early all the same: it may bring much more by now. */
static bool call_looks(struct joint_subject *subject)
{
    uint32_t waited = atomic_load_explicit(&subject->waited, memory_order_relaxed) + 1;
    atomic_store_explicit(&subject->waited, waited, memory_order_relaxed);
    return waited % WAITS_BETWEEN_LOOKS == 0;
}

void joint_start(struct joint *joint, int64_t now_ns)
{
    atomic_store_explicit(&joint->start_ns, now_ns, memory_order_relaxed);
}

bool joint_is_running(const struct joint *joint, int64_t now_ns)
{
    return joint_runs_at(joint, joint_age_ns(joint, now_ns));
}

void joint_forget(struct joint_subject *subject)
{
    atomic_store_explicit(&subject->octave, 0, memory_order_relaxed);
}

/* Once in an octave. A joint trial that its reference's thread has left is over, too, when its octave is. */
static void joint_begin_if_due(struct joint *joint, const struct joint_call *call, int64_t age_ns, int64_t period_ns)
{
    bool is_due = octave_of(age_ns) != atomic_load_explicit(&joint->octave, memory_order_relaxed);
    if (call->is_doubtful && is_due && !joint_runs_at(joint, age_ns))
        joint_begin(joint, call, period_ns);
}

static void joint_time(struct joint *joint, const struct joint_call *call, int64_t age_ns)
{
    if (!joint_is_of(joint, call))
        return;
    if (joint_runs_at(joint, age_ns))
        joint_count(joint, call->now_ns, joint_turn(joint, age_ns));
    else
        joint_end(joint);
}

static bool joint_answer_doubtful(struct joint *joint, const struct joint_call *call, int64_t age_ns)
{
    if (!joint_runs_at(joint, age_ns))
        return !call_is_slower(joint, call, octave_of(age_ns)) || call_looks(call->subject);
    subject_take_part(joint, call);
    return turn_is_early(joint_turn(joint, age_ns));
}

bool joint_answer(struct joint *joint, const struct joint_call *call)
{
    int64_t age_ns = joint_age_ns(joint, call->now_ns);
    int64_t asked_ns = atomic_exchange_explicit(&call->subject->asked_ns, call->now_ns, memory_order_relaxed);
    if (age_ns == 0 || asked_ns == 0)
        return call->is_early;
    joint_time(joint, call, age_ns);
    joint_begin_if_due(joint, call, age_ns, call->now_ns - asked_ns);
    return call->is_doubtful ? joint_answer_doubtful(joint, call, age_ns) : call->is_early;
}
