/* SPDX-License-Identifier: MIT */
/* Finds out how long after a blocking call its buffer is first touched, and where: the
 * call is done as MPI does it, and then its buffer is watched (protect/watch.h), on a
 * sample of calls whose cost stays below a hundredth of the run. */
#ifndef PROFILE_OBSERVE_H
#define PROFILE_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "protect/protect.h"
#include "protect/watch.h"
#include "record/profile_file.h"

/* Smaller buffers share their pages with others. */
enum { OBSERVE_BYTES_MIN = 4096 };

/* A buffer of a call that has returned. */
struct observe_buffer {
    struct range bytes;
    bool is_received; /* any access is a touch; else a write */
    bool has_gaps;    /* not all of `bytes` are the message's */
};

/* `is_wanted` false: nothing is ever watched. */
void observe_start(bool is_wanted);
void observe_stop(void);

/* What a call has in hand. are_one_op: a run would hold all or nothing (collectives), not each by itself. */
struct observe_buffers {
    int count;
    bool are_one_op;
    struct observe_buffer buffers[WATCH_PARTS_MAX];
};

/* Watches the buffers if it is the site's turn, and asks whether a run could hold them. After profile_call_end(). */
void observe_call(struct profile_format_site *site, const struct observe_buffers *call);

/* Accounts for watches that were touched. */
void observe_harvest_all(void);

static inline void observe_harvest(void)
{
    if (watch_is_any_touched())
        observe_harvest_all();
}

/* The memory is about to be used by a call: MPI's (inside a measured one) or libc's. Ends the
 * watches there. */
void observe_use_range(struct range bytes, bool is_read);
void observe_use_all(void);

/* In the child after fork. */
void observe_forked_child(void);

#endif
