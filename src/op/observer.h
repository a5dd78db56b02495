/* SPDX-License-Identifier: MIT */
/* What op tells the profile, where one is wanted. One table, constant, from lib/wiring.c. */
#ifndef OP_OBSERVER_H
#define OP_OBSERVER_H

#include <stdbool.h>

#include "base/range.h"
#include "base/reasons.h"
#include "policy/policy.h"
#include "record/profile_file.h"

/* The stages of an op, for the picture of a run; a time of 0: there was none. Where data came in pieces, the last. */
struct observer_op {
    enum policy_direction direction;
    const void *place; /* the call's return address; NULL: not known */
    uint64_t bytes;
    int64_t begun_ns;     /* in its call */
    int64_t returned_ns;  /* the call, early */
    int64_t announced_ns; /* its message was matched, where Lapwing has seen that */
    int64_t touched_ns;   /* the program needed the memory, and waited */
    int64_t came_ns;      /* the data */
    int64_t released_ns;  /* the memory */
    int64_t overlapped_ns;
};

struct observer {
    /* Before the first MPI call: is a profile wanted? Then every call is passed, and timed. */
    bool (*is_wanted)(void);

    /* After MPI_Init; false, and no profile, when its file cannot be made. */
    bool (*start)(const struct profile_file_identity *identity);
    /* MPI_Finalize; the end of a process that we have not seen in it; the child of a fork. */
    void (*stop)(void);
    void (*leave)(bool is_finalized);
    void (*forked_child)(void);

    /* These bytes, or any, are about to be used by a call. Only while something is watched or held. */
    void (*used)(struct range bytes, bool is_read);
    void (*all_used)(void);

    /* The picture of a run that is not profiled (--timeline), while observer_draws(). Any thread; not from signal
     * context. op_passed: why a call was given to MPI. engine_polled: the engine was awake. */
    void (*draw)(const struct profile_file_identity *identity);
    void (*op_over)(const struct observer_op *op);
    void (*op_passed)(const void *place, enum policy_direction direction, enum reason reason, uint64_t bytes);
    void (*engine_polled)(int64_t begin_ns, int64_t end_ns);
};

extern const struct observer observer;

static inline bool observer_draws(void)
{
    return options.timeline != 0 && !options.profile;
}

#endif
