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
    bool is_received;      /* any access is a touch; else a write */
    bool has_gaps;         /* not all of `bytes` are the message's */
    bool may_hide_gaps;    /* a send may name bytes twice and leave out as many (op/neighbours.h) */
    uint64_t length_bytes; /* the message's */
};

/* `is_wanted` false: nothing is ever watched. */
void observe_start(bool is_wanted);
void observe_stop(void);

/* What a call has in hand. are_one_op: a run would hold all or nothing (collectives), not each by itself. are_messages:
 * what it sends and what it receives between two ranks. */
struct observe_buffers {
    int count;
    bool are_one_op;
    bool are_messages;
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

/* By op or libc, also for a call that has told what it uses. */
void observe_use_again(struct range bytes, bool is_read);

/* By a send, which a run would let return early, too, if it is large. */
void observe_use_sent(struct range bytes);

/* In the child after fork. */
void observe_forked_child(void);

#endif
