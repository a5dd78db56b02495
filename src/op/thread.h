/* SPDX-License-Identifier: MIT */
/* What each thread has of its own in this folder. Every thread of the program carries it, with however small a stack
 * (tools/check_preload.py). */
#ifndef OP_THREAD_H
#define OP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "op/type_layout.h"
#include "policy/policy.h"

/* As many as calls name, but for those with long arrays of buffers. */
enum { THREAD_RANGES_MAX = 16 };

/* The thread's last large blocking call, for away.c. began_ns: 0 once it has returned. */
struct thread_away {
    struct policy_site *sites[POLICY_HALVES];
    struct policy_site *passed[POLICY_HALVES];
    uint32_t situations[POLICY_HALVES]; /* in which those were */
    int64_t began_ns;
    int64_t returned_ns;
    int64_t stalled_ns; /* stall_total_ns() at the return */
};

/* What the call that begins has waited for, for noted.c. moment: before the first look at the holds; 0: the call named
 * no memory. More ranges than there is room for, or unknown ones: are_unknown. */
struct thread_noted {
    uint64_t moment;
    struct range ranges[THREAD_RANGES_MAX];
    uint8_t count;
    bool are_unknown;
    bool are_read[THREAD_RANGES_MAX];
};

/* fortran_call: the last place that the thread called a Fortran binding from (call_site.h). First, since the jumps in
 * assembly that mpi/generate.py makes write it. types: see type_layout.h. The rest is for transfer.c, which tells
 * threads apart by the struct's address. */
extern __attribute__((visibility("hidden"))) _Thread_local struct op_thread {
    const void *fortran_call;
    struct type_layout types[1 << TYPE_LAYOUT_CACHE_BITS];
    struct thread_away away;
    struct thread_noted noted;
    bool is_starter;         /* of an op */
    bool is_leaving;         /* the process ends at this thread's wish */
    bool is_cancel_put_off;  /* a wait of this thread has put off its cancellation */
    bool is_awaiting_others; /* their ops, and counts as one that waits at a touch */
} op_thread;

#endif
