/* SPDX-License-Identifier: MIT */
/* A joint trial: is the job slower because calls return early?
 *
 * Prices may say that calls pay a little, and a trial of one rank's (trial.h) that it is faster, and all ranks together
 * are slower all the same: the engine answers later than a call that waits, so that peers wait longer, and what one
 * rank gains depends on what the others do. So now and then all ranks let such doubtful calls wait at the same time, in
 * turn with times in which they return early. No message is needed for that. Every rank counts its time from the end of
 * MPI_Init, which is about the same moment for all, and the turns lie at fixed times after it: at half a second, one
 * second, two seconds, and so on. Where the job is slower for certain, doubtful calls wait until the next ones.
 *
 * A process has one joint trial at a time. Its numbers are hints: a second thread that comes in between spoils one. */
#ifndef POLICY_JOINT_H
#define POLICY_JOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/differences.h"

/* Doubtful calls that share a verdict. All zero: never tried. Relaxed, by any thread. */
struct joint_subject {
    _Atomic int64_t asked_ns; /* the last call */
    _Atomic int64_t worth_ns; /* of the last call of the last trial; away: the same */
    _Atomic uint32_t away;
    _Atomic uint32_t waited; /* calls that waited for a verdict's sake */
    _Atomic uint32_t octave; /* of the last trial that they took part in; 0: none */
};

/* start_ns: the end of MPI_Init; 0 before. octave: of the last joint trial, of which reference's calls of one thread
 * tell the time; NULL when none runs, claimed by CAS. slower_octave: of the last one by which calls have to wait; 0:
 * none. The rest is that thread's. All zero at first. */
struct joint {
    _Atomic int64_t start_ns;
    _Atomic int64_t length_ns; /* of a turn */
    _Atomic uint32_t octave;
    _Atomic uint32_t turns; /* that it has */
    _Atomic uint32_t slower_octave;
    struct joint_subject *_Atomic reference;
    _Atomic(const void *) thread;
    int64_t turn;     /* its number */
    int64_t first_ns; /* this turn's second call: the first still feels the turn before */
    int64_t last_ns;
    uint32_t calls;         /* of this turn */
    double first_period_ns; /* from call to call, in the first turn of a pair; 0: unknown */
    struct differences pairs;
};

/* A call that would return early, or not; doubtful ones would. thread: any address that tells threads apart. worth_ns:
 * the most that returning early can bring. away: class of the time that the program stayed away from MPI after the call
 * before. */
struct joint_call {
    struct joint_subject *subject;
    const void *thread;
    int64_t now_ns;
    int64_t worth_ns;
    uint32_t away;
    bool is_early;
    bool is_doubtful;
};

/* At the end of MPI_Init, before any call. */
void joint_start(struct joint *joint, int64_t now_ns);

/* Does a joint trial run? */
bool joint_is_running(const struct joint *joint, int64_t now_ns);

/* Shall the call return early? */
bool joint_answer(struct joint *joint, const struct joint_call *call);

/* One call has brought much: that the job was slower says nothing of it. */
void joint_forget(struct joint_subject *subject);

#endif
