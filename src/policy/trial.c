/* SPDX-License-Identifier: MIT */
#include "policy/trial.h"

#include <stddef.h>

/* A round is a block of calls that return early and one of calls that wait; the first call of a block still feels the
 * block before. Rounds begin with either in turn, against drift, and against a rhythm of the program's own: two are a
 * pair. */
enum { BLOCK_CALLS = 4, ROUND_CALLS = 2 * BLOCK_CALLS, PAIR_ROUNDS = 2 };
/* Calls that pay a little lose little in a trial, and what they cost others is seldom much. */
enum { ROUNDS_MOST = 8, ROUNDS_MOST_PAYING = 32 };
/* Calls are tried when their prices have had time to learn; then after ever more calls. Those that pay are tried later:
 * half of a trial's calls lose what they bring. */
enum { CALLS_FIRST = 8, CALLS_FIRST_PAYING = 64, CALLS_AGAIN = 256, DOUBLINGS_MOST = 5 };
enum { CALLS_BETWEEN_LOOKS = 32 };
/* Calls that would bring so many times as much as those that were slower are other calls. */
enum { NEWS_FACTOR = 2 };
/* What brings less than this part of the time from call to call is not worth a trial. */
enum { WORTH_PART = 32 };
/* A trial that nobody goes on with for so long is over: the program does something else. */
enum { ROUNDS_IDLE = 4, IDLE_FIRST_NS = 1000000000 };

/* How much longer a round's half of early returns takes, as a part of the round. No outlier counts for more than
 * DIFFERENCE_MOST. A verdict needs ERRORS_LEAST standard errors, and so much of a difference: more after one pair. */
#define DIFFERENCE_MOST 0.5
#define DIFFERENCE_OF_PAIR 0.1
#define DIFFERENCE_LEAST 0.005
#define ERRORS_LEAST 4.0

static bool call_is_early(const struct trial *trial)
{
    return (trial->calls < BLOCK_CALLS) == (trial->rounds % PAIR_ROUNDS == 0);
}

static bool call_pays(const struct trial_call *call)
{
    return call->prices != TRIAL_PAYS_NOT;
}

static uint32_t subject_calls_due(const struct trial_call *call)
{
    uint32_t trials = atomic_load_explicit(&call->subject->trials, memory_order_relaxed);
    if (trials == 0)
        return call_pays(call) ? CALLS_FIRST_PAYING : CALLS_FIRST;
    return CALLS_AGAIN << (trials - 1 < DOUBLINGS_MOST ? trials - 1 : DOUBLINGS_MOST);
}

static void subject_count_trial(struct trial_subject *subject)
{
    uint16_t trials = atomic_load_explicit(&subject->trials, memory_order_relaxed);
    atomic_store_explicit(&subject->trials, trials <= DOUBLINGS_MOST ? trials + 1 : trials, memory_order_relaxed);
    atomic_store_explicit(&subject->calls, 0, memory_order_relaxed);
}

static void trial_end(struct trial *trial, const struct trial_call *call, enum trial_verdict verdict)
{
    struct trial_subject *subject = call->subject;
    subject_count_trial(subject);
    atomic_store_explicit(&subject->verdict, verdict, memory_order_relaxed);
    atomic_store_explicit(&subject->away, call->away, memory_order_relaxed);
    atomic_store_explicit(&subject->worth_ns, call->worth_ns, memory_order_relaxed);
    /* release: who claims the trial next writes what this thread has read. */
    atomic_store_explicit(&trial->subject, NULL, memory_order_release);
}

static bool trial_is_free(const struct trial *trial, const struct trial_subject *running, int64_t now_ns)
{
    int64_t asked_ns = atomic_load_explicit(&trial->asked_ns, memory_order_relaxed);
    return running == NULL || now_ns - asked_ns > atomic_load_explicit(&trial->idle_ns, memory_order_relaxed);
}

/* A trial that was left counts, too: calls that come in turn with others' would else be tried for ever, and never to
 * the end. acquire: see trial_end(). */
static void trial_begin(struct trial *trial, const struct trial_call *call)
{
    struct trial_subject *running = atomic_load_explicit(&trial->subject, memory_order_relaxed);
    if (!trial_is_free(trial, running, call->now_ns) ||
        !atomic_compare_exchange_strong_explicit(&trial->subject, &running, call->subject, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    if (running != NULL)
        subject_count_trial(running);
    atomic_store_explicit(&trial->asked_ns, call->now_ns, memory_order_relaxed);
    atomic_store_explicit(&trial->idle_ns, IDLE_FIRST_NS, memory_order_relaxed);
    atomic_store_explicit(&trial->thread, call->thread, memory_order_relaxed);
    trial->is_of_paying = call_pays(call);
    trial->calls = trial->rounds = 0;
    trial->early_ns = trial->waiting_ns = 0;
    trial->mean = trial->squares = 0;
}

static double difference_limit(double difference)
{
    if (difference > DIFFERENCE_MOST)
        return DIFFERENCE_MOST;
    return difference < -DIFFERENCE_MOST ? -DIFFERENCE_MOST : difference;
}

static void trial_add(struct trial *trial, double difference)
{
    double before = difference - trial->mean;
    trial->mean += before / ++trial->rounds;
    trial->squares += before * (difference - trial->mean);
}

static bool trial_is_clear(const struct trial *trial)
{
    double least = trial->rounds == PAIR_ROUNDS ? DIFFERENCE_OF_PAIR : DIFFERENCE_LEAST;
    double squared = trial->mean * trial->mean;
    double rounds = trial->rounds;
    bool is_large = squared >= least * least;
    return is_large && squared * rounds * (rounds - 1) >= ERRORS_LEAST * ERRORS_LEAST * trial->squares;
}

/* Calls that do not pay wait where they are not faster. */
static enum trial_verdict trial_verdict(const struct trial *trial, bool is_clear)
{
    if (is_clear && trial->mean < 0)
        return TRIAL_FASTER;
    return is_clear && trial->is_of_paying ? TRIAL_SLOWER : TRIAL_UNCLEAR;
}

static void trial_judge(struct trial *trial, const struct trial_call *call)
{
    int64_t round_ns = trial->early_ns + trial->waiting_ns;
    bool is_worth = call->worth_ns * WORTH_PART * (ROUND_CALLS - 2) >= round_ns;
    atomic_store_explicit(&trial->idle_ns, ROUNDS_IDLE * round_ns, memory_order_relaxed);
    if (round_ns > 0)
        trial_add(trial, difference_limit((double)(trial->early_ns - trial->waiting_ns) / (double)round_ns));
    trial->calls = 0;
    trial->early_ns = trial->waiting_ns = 0;
    bool is_clear = trial->rounds % PAIR_ROUNDS == 0 && trial_is_clear(trial);
    if (is_clear || !is_worth || trial->rounds >= (trial->is_of_paying ? ROUNDS_MOST_PAYING : ROUNDS_MOST))
        trial_end(trial, call, trial_verdict(trial, is_clear));
}

/* The time since the call before is that call's. */
static void trial_count(struct trial *trial, const struct trial_call *call)
{
    int64_t period_ns = call->now_ns - atomic_load_explicit(&trial->asked_ns, memory_order_relaxed);
    bool is_counted = trial->calls % BLOCK_CALLS != 0;
    *(call_is_early(trial) ? &trial->early_ns : &trial->waiting_ns) += is_counted ? period_ns : 0;
    atomic_store_explicit(&trial->asked_ns, call->now_ns, memory_order_relaxed);
    if (++trial->calls >= ROUND_CALLS) /* more: a second thread came in between */
        trial_judge(trial, call);
}

static bool trial_is_of(const struct trial *trial, const struct trial_call *call)
{
    return atomic_load_explicit(&trial->subject, memory_order_relaxed) == call->subject &&
           atomic_load_explicit(&trial->thread, memory_order_relaxed) == call->thread;
}

static bool subject_is_due(const struct trial_call *call)
{
    uint32_t calls = atomic_load_explicit(&call->subject->calls, memory_order_relaxed);
    atomic_store_explicit(&call->subject->calls, calls + 1, memory_order_relaxed);
    return call->worth_ns != 0 && calls >= subject_calls_due(call);
}

/* The time away often lies where two of its classes meet. */
static bool call_is_as_far_away(const struct trial_call *call)
{
    uint32_t then = atomic_load_explicit(&call->subject->away, memory_order_relaxed);
    return call->away <= then + 1 && then <= call->away + 1;
}

/* Has a trial of such calls shown that the program is slower if they return early? */
static bool call_is_slower(const struct trial_call *call)
{
    const struct trial_subject *subject = call->subject;
    return atomic_load_explicit(&subject->verdict, memory_order_relaxed) == TRIAL_SLOWER && call_is_as_far_away(call) &&
           call->worth_ns < NEWS_FACTOR * atomic_load_explicit(&subject->worth_ns, memory_order_relaxed);
}

static bool call_is_faster(const struct trial_call *call)
{
    return atomic_load_explicit(&call->subject->verdict, memory_order_relaxed) == TRIAL_FASTER;
}

void trial_forget_slower(struct trial_subject *subject)
{
    if (atomic_load_explicit(&subject->verdict, memory_order_relaxed) == TRIAL_SLOWER)
        atomic_store_explicit(&subject->verdict, TRIAL_UNCLEAR, memory_order_relaxed);
}

/* One in many returns early all the same: it may bring much more by now. */
static bool call_looks(const struct trial_call *call)
{
    return atomic_load_explicit(&call->subject->calls, memory_order_relaxed) % CALLS_BETWEEN_LOOKS == 0;
}

bool trial_answer(struct trial *trial, const struct trial_call *call)
{
    bool is_running = trial_is_of(trial, call);
    if (is_running && trial->is_of_paying && call->prices == TRIAL_PAYS_WELL)
        return true; /* it is not made to wait for a trial of others */
    if (is_running)
        trial_count(trial, call);
    else if (call->prices != TRIAL_PAYS_WELL && subject_is_due(call))
        trial_begin(trial, call);
    if (trial_is_of(trial, call)) /* it may be over, or have begun */
        return call_is_early(trial);
    if (call->prices == TRIAL_PAYS_LITTLE && call_is_slower(call))
        return call_looks(call);
    return call_pays(call) || call_is_faster(call);
}
