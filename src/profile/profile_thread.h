/* SPDX-License-Identifier: MIT */
/* What each thread knows of its calls, for samples of slack. */
#ifndef PROFILE_PROFILE_THREAD_H
#define PROFILE_PROFILE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Also read by its own fault handler. */
struct profile_thread {
    uintptr_t frame; /* of the call that it is in: what MPI calls itself is not counted; 0: none */
    bool is_begun;
    int64_t begun_ns;     /* of the call that it is in */
    int64_t returned_ns;  /* of its last call; 0: none yet */
    int64_t inside_ns;    /* sum of its calls that have returned */
    uintptr_t caller;     /* of the call that it is in, or was in last */
    uintptr_t stack_high; /* where its stack ends; 0: not known */
    uint32_t jitter;      /* observe.c; 0: not begun */
};
extern _Thread_local struct profile_thread profile_thread;

#endif
