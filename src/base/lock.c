/* SPDX-License-Identifier: MIT */
/* The three-state futex mutex of U. Drepper, "Futexes are tricky", 2011. */
#include "base/lock.h"

#include "base/futex.h"

bool base_lock_try(struct base_lock *lock)
{
    uint32_t free_state = 0;
    /* acquire: what the last holder wrote is seen after a successful take. */
    return atomic_compare_exchange_strong_explicit(&lock->state, &free_state, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void base_lock_take(struct base_lock *lock)
{
    if (base_lock_try(lock))
        return;
    /* From here on the state says "somebody sleeps", so that the holder wakes us. */
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        base_futex_wait(&lock->state, 2, -1);
}

void base_lock_release(struct base_lock *lock)
{
    /* release: the next holder sees what this one wrote. */
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        base_futex_wake(&lock->state, 1);
}
