/* SPDX-License-Identifier: MIT */
/* Claim: calls that do not pay by themselves return early where the program is faster so, and not where it is slower,
 * or where noise alone tells them apart; a program that changes is tried again. Trials that are never over, since
 * others come between, become rare, too. */
#include "model.h"
#include "policy/trial.h"

enum { US = 1000, PERIOD_NS = 5000 * US, WORTH_NS = 1000 * US, CALLS = 4000, SETTLED = 200 };

struct program {
    struct trial_subject *subject;
    int64_t early_ns; /* added to the time from call to call by a call that returns early */
    int noise_percent;
    bool pays;
};

static struct trial trial;
static int64_t now_ns = 1;

static int64_t noise_ns(int percent)
{
    return percent == 0 ? 0 : (int64_t)(model_random() % (uint64_t)(PERIOD_NS / 100 * percent));
}

/* How many of the calls return early. */
static long program_run(const struct program *program, long calls)
{
    long early = 0;
    for (long i = 0; i < calls; i++) {
        bool is_early = trial_answer(&trial, &(struct trial_call){.subject = program->subject,
                                                                  .thread = &now_ns,
                                                                  .now_ns = now_ns,
                                                                  .worth_ns = WORTH_NS,
                                                                  .pays = program->pays});
        early += is_early;
        now_ns += PERIOD_NS + noise_ns(program->noise_percent) + (is_early ? program->early_ns : 0);
    }
    return early;
}

static void early_is_faster(void)
{
    static struct trial_subject subject;
    struct program program = {.subject = &subject, .early_ns = -PERIOD_NS / 5, .noise_percent = 10};
    program_run(&program, SETTLED);
    claim(program_run(&program, CALLS) > CALLS * 19 / 20, "a fifth faster by returning early: calls return early");
    program.early_ns = PERIOD_NS / 20;
    program_run(&program, CALLS);
    claim(program_run(&program, CALLS) < CALLS / 20, "it has become slower: calls wait again");
}

static void early_is_slower(void)
{
    static struct trial_subject subject;
    claim(program_run(&(struct program){.subject = &subject, .early_ns = PERIOD_NS / 20, .noise_percent = 5}, CALLS) <
              CALLS / 50,
          "slower by returning early: calls wait, but in trials");
}

static void noise_decides_little(void)
{
    enum { PROGRAMS = 200 };
    static struct trial_subject subjects[PROGRAMS];
    long early = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        struct program program = {.subject = &subjects[i], .early_ns = 0, .noise_percent = 50};
        program_run(&program, SETTLED);
        early += program_run(&program, 1);
    }
    claim(early <= PROGRAMS / 10, "noise alone makes few calls return early");
}

static void paying_calls(void)
{
    static struct trial_subject subject;
    claim(program_run(&(struct program){.subject = &subject, .early_ns = PERIOD_NS, .pays = true}, CALLS) == CALLS,
          "what pays is not tried");
}

static void left_trial(void)
{
    static struct trial_subject left, other;
    program_run(&(struct program){.subject = &left, .early_ns = -PERIOD_NS / 5, .noise_percent = 0}, 10);
    struct program program = {.subject = &other, .early_ns = -PERIOD_NS / 5, .noise_percent = 0};
    claim(program_run(&program, SETTLED) == 0, "one trial at a time");
    now_ns += INT64_C(2000000000);
    program_run(&program, SETTLED / 2);
    claim(program_run(&program, 100) == 100, "a trial that was left stops no other");
}

/* Of `calls` of a subject, then as many of the next one. */
static void trials_in_turn(int calls)
{
    enum { SUBJECTS = 4, ALL_CALLS = 100000 };
    struct trial_subject subjects[SUBJECTS] = {{0}};
    long early = 0;
    for (int i = 0; i < ALL_CALLS / calls; i++)
        early += program_run(
            &(struct program){.subject = &subjects[i % SUBJECTS], .early_ns = PERIOD_NS / 20, .noise_percent = 5},
            calls);
    claim(early < ALL_CALLS / 50, "slower by returning early, a few calls in turn with others: calls wait");
}

int main(void)
{
    early_is_faster();
    early_is_slower();
    noise_decides_little();
    paying_calls();
    left_trial();
    for (int calls = 9; calls <= 40; calls++)
        trials_in_turn(calls);
    return 0;
}
