/* SPDX-License-Identifier: MIT */
#include "op/late_errors.h"

#include <stdatomic.h>

#include "engine/gate.h"
#include "op/busy.h"
#include "record/record.h"

/* A program whose ops fail faster than it calls MPI hears of the first ones. */
enum { CODES_MAX = 64 };

static struct {
    struct gate_lock lock;
    _Atomic unsigned count; /* read without the lock to skip it */
    int codes[CODES_MAX];
} errors;

void late_errors_keep(int code)
{
    record_count(RECORD_ERRORS_LATE, 1);
    gate_lock_take(&errors.lock);
    unsigned count = atomic_load_explicit(&errors.count, memory_order_relaxed);
    if (count < CODES_MAX) {
        errors.codes[count] = code;
        atomic_store_explicit(&errors.count, count + 1, memory_order_release);
        busy_raise(); /* so that the next call does not go straight to MPI */
    }
    gate_lock_release(&errors.lock);
}

static int errors_pop(void)
{
    unsigned count = atomic_load_explicit(&errors.count, memory_order_relaxed);
    if (count == 0)
        return 0;
    int code = errors.codes[0];
    for (unsigned i = 1; i < count; i++)
        errors.codes[i - 1] = errors.codes[i];
    atomic_store_explicit(&errors.count, count - 1, memory_order_relaxed);
    busy_lower();
    return code;
}

int late_errors_take(void)
{
    /* acquire: a count seen here comes with its code. */
    if (atomic_load_explicit(&errors.count, memory_order_acquire) == 0)
        return 0;
    gate_lock_take(&errors.lock);
    int code = errors_pop();
    gate_lock_release(&errors.lock);
    return code;
}

int late_errors_or(int result)
{
    return result == 0 ? late_errors_take() : result;
}
