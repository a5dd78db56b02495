/* SPDX-License-Identifier: MIT */
/* Nonblocking operations of the program that the engine keeps going while the
 * program computes. They stay the program's: the engine only lets MPI progress.
 *
 * How long the program computes between start and wait is seen of every operation, also of
 * those that the engine has left alone, so that nothing need be tried: the engine is woken
 * where the site's last operations say that it will have the time to come in (policy.h),
 * and stays asleep for operations that are waited for at once. */
#ifndef OP_ASSIST_H
#define OP_ASSIST_H

#include <stdbool.h>
#include <stdint.h>

struct policy_site;

/* Of one operation, kept beside its request (requests.c). */
struct assist {
    bool is_observed; /* it has begun; the rest is of that operation */
    bool is_active;   /* the engine works for it */
    uint32_t situation;
    struct policy_site *site;
    int64_t started_ns;
    int64_t engine_before_ns; /* engine_charge_ns() then, where the engine works for it */
};

/* Where options and session allow it: an operation on so many bytes was started from here.
 * Where it may be worth it the engine works for it until assist_end(). Inside an MPI call of
 * the program. `buffer`: any address of the operation's. */
void assist_begin(struct assist *assist, uint64_t bytes, uintptr_t buffer, const void *return_address);
void assist_end(struct assist *assist);

/* The two halves of assist_begin(), for an operation that is left to MPI where help is not worth it: is it, and then,
 * once there is an engine, the engine works for it until assist_end(). */
bool assist_judge(struct assist *assist, uint64_t bytes, uintptr_t buffer, const void *return_address);
void assist_engage(struct assist *assist);

/* Operations that were to learn how long the program waits for them: under way now, and when its last wait ended. */
struct assist_waits {
    uint32_t count;
    uint32_t count_then;
    int64_t began_ns; /* that wait */
};

/* One of them is over: the site learns its part of the wait, which ends all of its requests, one after the other. */
void assist_learn_wait(struct assist_waits *waits, const struct assist *assist, struct policy_site *site,
                       uint32_t situation);

/* The program has come to complete operations (a wait or a test): what follows is no slack. */
void assist_note_wait(void);

#endif
