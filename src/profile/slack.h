/* SPDX-License-Identifier: MIT */
/* Samples of slack, and what each thread knows of its calls for them. */
#ifndef PROFILE_SLACK_H
#define PROFILE_SLACK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/profile_file.h"

/* What each thread knows of itself. Also read by its own fault handler. */
struct profile_thread {
    uint32_t depth; /* 1 inside a measured call: what MPI calls itself is not counted */
    bool is_begun;
    int64_t begun_ns;     /* of the call that it is in */
    int64_t returned_ns;  /* of its last call; 0: none yet */
    int64_t inside_ns;    /* sum of its calls that have returned */
    uintptr_t caller;     /* of the call that it is in, or was in last */
    uintptr_t stack_high; /* where its stack ends; 0: not known */
    uint32_t jitter;      /* observe.c; 0: not begun */
};
extern _Thread_local struct profile_thread profile_thread;

/* Keys of profile_file_bits() that are told apart for a site. */
enum { PROFILE_BITS_MAX = 64 };

/* A sample: for waits, and for touches. Not for signal context. */
void slack_add(struct profile_format_site *site, int64_t start_ns, int64_t wall_ns, int64_t computation_ns);

#endif
