/* SPDX-License-Identifier: MIT */
/* Nonblocking operations of the program that the engine keeps going while the
 * program computes. They stay the program's: the engine only pokes MPI. As with
 * ops, call sites learn: one whose operations are waited for at once is left
 * alone for a while (policy.h). */
#ifndef INTERCEPT_ASSIST_H
#define INTERCEPT_ASSIST_H

#include <stdbool.h>
#include <stdint.h>

struct policy_site;

/* Of one operation, kept beside its request (requests.c). */
struct assist {
    bool is_active;
    struct policy_site *site;
    int64_t started_ns;
};

/* Where options and session allow it: may it be worth it for an operation on so many bytes
 * that was started from here? Then the engine works for it until assist_end(). Inside an
 * MPI call of the program. */
void assist_begin(struct assist *assist, uint64_t bytes, const void *return_address);
void assist_end(struct assist *assist);

/* The program has come to complete operations (a wait or a test): what follows is no slack. */
void assist_note_wait(void);

#endif
