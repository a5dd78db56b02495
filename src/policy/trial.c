/* SPDX-License-Identifier: MIT */
#include "policy/trial.h"

#include <stddef.h>

/* A round is a block of calls that return early and one of calls that wait; the first call of a block still feels the
 * block before. Rounds begin with either in turn, against drift, and against a rhythm of the program's own: two are a
 * pair. */
enum { BLOCK_CALLS = 4, ROUND_CALLS = 2 * BLOCK_CALLS, PAIR_ROUNDS = 2 };
enum { ROUNDS_MOST = 8 };
/* Calls are tried when their prices have had time to learn; then after ever more calls. */
enum { CALLS_FIRST = 8, CALLS_AGAIN = 256, DOUBLINGS_MOST = 5 };
/* What does not pay returns early only where that is certain. */
#define ERRORS_LEAST 4.0
/* What brings less than this part of the time from call to call is not worth a trial. */
enum { WORTH_PART = 32 };
/* A trial that nobody goes on with for so long is over: the program does something else. */
enum { ROUNDS_IDLE = 4, IDLE_FIRST_NS = 1000000000 };

static bool call_is_early(const struct trial *trial)
{
    return (trial->calls < BLOCK_CALLS) == (trial->rounds.count % PAIR_ROUNDS == 0);
}

static uint32_t subject_calls_due(const struct trial_call *call)
{
    uint32_t trials = atomic_load_explicit(&call->subject->trials, memory_order_relaxed);
    if (trials == 0)
        return CALLS_FIRST;
    return CALLS_AGAIN << (trials - 1 < DOUBLINGS_MOST ? trials - 1 : DOUBLINGS_MOST);
}

static void subject_count_trial(struct trial_subject *subject)
{
    uint16_t trials = atomic_load_explicit(&subject->trials, memory_order_relaxed);
    atomic_store_explicit(&subject->trials, trials <= DOUBLINGS_MOST ? trials + 1 : trials, memory_order_relaxed);
    atomic_store_explicit(&subject->calls, 0, memory_order_relaxed);
}

static void trial_end(struct trial *trial, struct trial_subject *subject, bool is_faster)
{
    subject_count_trial(subject);
    atomic_store_explicit(&subject->is_faster, is_faster, memory_order_relaxed);
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
    trial->calls = 0;
    trial->early_ns = trial->waiting_ns = 0;
    trial->rounds = (struct differences){0};
}

static void trial_judge(struct trial *trial, const struct trial_call *call)
{
    int64_t round_ns = trial->early_ns + trial->waiting_ns;
    bool is_worth = call->worth_ns * WORTH_PART * (ROUND_CALLS - 2) >= round_ns;
    atomic_store_explicit(&trial->idle_ns, ROUNDS_IDLE * round_ns, memory_order_relaxed);
    differences_add(&trial->rounds, (double)trial->early_ns, (double)trial->waiting_ns);
    trial->calls = 0;
    trial->early_ns = trial->waiting_ns = 0;
    bool is_clear = trial->rounds.count % PAIR_ROUNDS == 0 && differences_are_clear(&trial->rounds, ERRORS_LEAST);
    if (is_clear || !is_worth || trial->rounds.count >= ROUNDS_MOST)
        trial_end(trial, call->subject, is_clear && trial->rounds.mean < 0);
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

bool trial_knows(const struct trial_call *call)
{
    return call->pays || atomic_load_explicit(&call->subject->is_faster, memory_order_relaxed);
}

bool trial_answer(struct trial *trial, const struct trial_call *call)
{
    if (trial_is_of(trial, call))
        trial_count(trial, call);
    else if (!call->pays && subject_is_due(call))
        trial_begin(trial, call);
    return trial_is_of(trial, call) /* it may be over, or have begun */ ? call_is_early(trial) : trial_knows(call);
}
