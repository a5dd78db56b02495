/* SPDX-License-Identifier: MIT */
/* Claim: doubtful calls of all ranks wait where the job is slower by their early return, also where each rank alone
 * would find the contrary, and return early where it is faster. A verdict holds until the next joint trial, for calls
 * like those that took part, and not where one has brought much. Calls that are not doubtful keep their answer. */
#include "model.h"
#include "policy/joint.h"

enum { US = 1000, PERIOD_NS = 1000 * US, WORTH_NS = 200 * US, MS = 1000 * US, SECOND = 1000 * MS, SKEW_NS = 100 * US };

struct rank {
    struct joint joint;
    struct joint_subject subject;
    uint32_t away;
    int64_t worth_ns;
    long early; /* calls */
};

static int64_t now_ns;

static bool rank_call(struct rank *rank, bool is_doubtful, bool is_early)
{
    bool answer = joint_answer(&rank->joint, &(struct joint_call){.subject = &rank->subject,
                                                                  .thread = rank,
                                                                  .now_ns = now_ns,
                                                                  .worth_ns = rank->worth_ns,
                                                                  .away = rank->away,
                                                                  .is_early = is_early,
                                                                  .is_doubtful = is_doubtful});
    rank->early += answer;
    return answer;
}

static void rank_start(struct rank *rank, int64_t skew_ns)
{
    *rank = (struct rank){.worth_ns = WORTH_NS};
    joint_start(&rank->joint, now_ns + skew_ns);
}

static int64_t noise_ns(int percent)
{
    return percent == 0 ? 0 : (int64_t)(model_random() % (uint64_t)(PERIOD_NS / 100 * percent));
}

/* Until the job is so old; early_ns: what an early return adds to a period. How many of a hundred calls return early.
 */
static long rank_run(struct rank *rank, int64_t end_ns, int64_t early_ns)
{
    long calls = 0;
    for (rank->early = 0; now_ns < rank->joint.start_ns + end_ns; calls++)
        now_ns += PERIOD_NS + noise_ns(10) + (rank_call(rank, true, true) ? early_ns : 0);
    return calls == 0 ? 0 : rank->early * 100 / calls;
}

/* Half a second and one and two seconds after its start, in powers of two. */
static int64_t octave_ns(int octave)
{
    return INT64_C(1) << octave;
}

static void slower_job(void)
{
    struct rank rank;
    rank_start(&rank, 0);
    claim(rank_run(&rank, octave_ns(29), PERIOD_NS / 20) == 100, "before the first joint trial calls return early");
    rank_run(&rank, octave_ns(30) + octave_ns(27), PERIOD_NS / 20);
    claim(rank_run(&rank, octave_ns(31), PERIOD_NS / 20) <= 1, "slower by returning early: calls wait");
    claim(rank_run(&rank, octave_ns(31) + octave_ns(30), PERIOD_NS / 20) <= 15,
          "half of the next joint trial's return early");
    rank.away = 1;
    claim(rank_call(&rank, true, true) == false, "about the same time away: they wait");
    rank.away = 2;
    claim(rank_call(&rank, true, true), "another time away: calls return early again");
    rank.away = 0;
    rank.worth_ns = 2 * WORTH_NS;
    claim(rank_call(&rank, true, true), "calls that would bring more return early again");
    rank.worth_ns = WORTH_NS;
    claim(rank_call(&rank, false, true), "calls that are not doubtful keep their answer");
    joint_forget(&rank.subject);
    claim(rank_call(&rank, true, true), "one has brought much: calls return early again");
}

static void changed_job(void)
{
    struct rank rank;
    rank_start(&rank, 0);
    rank_run(&rank, octave_ns(31), PERIOD_NS / 20);
    rank_run(&rank, octave_ns(31) + octave_ns(28), -PERIOD_NS / 20);
    claim(rank_run(&rank, octave_ns(32), -PERIOD_NS / 20) == 100, "it has become faster: calls return early again");
}

static void faster_job(void)
{
    struct rank rank;
    rank_start(&rank, 0);
    claim(rank_run(&rank, octave_ns(34), -PERIOD_NS / 20) >= 97, "faster by returning early: calls do, but in trials");
}

/* Each rank alone is faster by returning early while the other does; both are slower than if both waited. */
static int64_t pair_ns(bool first_is_early, bool second_is_early)
{
    if (first_is_early && second_is_early)
        return PERIOD_NS / 20;
    return first_is_early || second_is_early ? PERIOD_NS / 10 : 0;
}

static void two_ranks(void)
{
    struct rank first, second;
    rank_start(&first, 0);
    rank_start(&second, SKEW_NS);
    long calls = 0;
    while (now_ns < first.joint.start_ns + octave_ns(32)) {
        if (now_ns > first.joint.start_ns + octave_ns(31) + octave_ns(28))
            calls++;
        else
            first.early = second.early = 0;
        bool first_is_early = rank_call(&first, true, true);
        bool second_is_early = rank_call(&second, true, true);
        now_ns += PERIOD_NS + noise_ns(10) + pair_ns(first_is_early, second_is_early);
    }
    claim(first.early + second.early <= calls / 20, "slower together: the calls of both ranks wait");
}

static void never_started(void)
{
    struct rank rank = {.worth_ns = WORTH_NS};
    now_ns = octave_ns(40);
    for (int i = 0; i < 1000; i++) {
        now_ns += PERIOD_NS;
        claim(rank_call(&rank, true, true), "without MPI_Init there is no joint trial");
    }
}

static void calls_that_wait(void)
{
    struct rank rank;
    rank_start(&rank, 0);
    for (int i = 0; i < 4000; i++) {
        now_ns += PERIOD_NS;
        claim(rank_call(&rank, false, false) == false, "calls that do not pay wait");
    }
}

int main(void)
{
    now_ns = SECOND;
    slower_job();
    changed_job();
    faster_job();
    two_ranks();
    never_started();
    calls_that_wait();
    return 0;
}
