/* SPDX-License-Identifier: MIT */
#include "libc/owner.h"

#include <stdatomic.h>
#include <unistd.h>

/* pid: written by the constructor and in children of fork; 0 before. */
static struct {
    _Atomic pid_t pid;
    _Atomic bool is_exiting;
} owner;

bool libc_owner_is_here(void)
{
    /* relaxed: written before any second thread exists. */
    pid_t known = atomic_load_explicit(&owner.pid, memory_order_relaxed);
    return known == 0 || known == getpid();
}

void libc_owner_note(void)
{
    atomic_store_explicit(&owner.pid, getpid(), memory_order_relaxed);
    atomic_store_explicit(&owner.is_exiting, false, memory_order_relaxed);
}

bool libc_owner_begins_exit(void)
{
    /* relaxed: only who comes first matters. */
    return libc_owner_is_here() && !atomic_exchange_explicit(&owner.is_exiting, true, memory_order_relaxed);
}
