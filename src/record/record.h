/* SPDX-License-Identifier: MIT */
/* What a rank remembers: counters and passes, appended to the file of its host at the end.
 * The layout of the file is format.h; names and units are record.toml. */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/reasons.h"
#include "record/counters.h"
#include "record/format.h"

/* Any thread may add to the counters (relaxed: numbers for a report, read at the end).
 * is_shared: several threads may count at once (MPI_THREAD_MULTIPLE).
 * path: for record_write(). Not on the stack, which may be the smallest there is: any thread can end the
 * process. One does, and it alone. */
extern __attribute__((visibility("hidden"))) struct record {
    _Atomic uint64_t counters[RECORD_COUNTER_COUNT];
    _Atomic uint64_t pass_calls[REASON_COUNT];
    _Atomic uint64_t pass_bytes[REASON_COUNT];
    bool is_shared;
    char path[4096];
} record;

/* One thread at a time is here: a plain add, without the locked cycle. */
static inline void record_add_alone(_Atomic uint64_t *number, uint64_t value)
{
    uint64_t before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + value, memory_order_relaxed);
}

static inline void record_pass_add(_Atomic uint64_t *number, uint64_t value)
{
    if (record.is_shared)
        atomic_fetch_add_explicit(number, value, memory_order_relaxed);
    else
        record_add_alone(number, value);
}

/* So many passes, of so many bytes in all. */
static inline void record_passes(enum reason reason, uint64_t calls, uint64_t bytes)
{
    record_pass_add(&record.pass_calls[reason], calls);
    record_pass_add(&record.pass_bytes[reason], bytes);
}

static inline void record_pass(enum reason reason, uint64_t bytes)
{
    record_passes(reason, 1, bytes);
}

/* For counters that the engine and the program both feed. */
static inline void record_count(enum record_counter counter, uint64_t value)
{
    atomic_fetch_add_explicit(&record.counters[counter], value, memory_order_relaxed);
}

/* Appends to the file of this host in <directory> (record/name.h) by one write, or to one of the rank's own where that
 * takes no more. False when neither can be done. */
bool record_write(const char *directory, const struct record_format_header *identity);

#endif
