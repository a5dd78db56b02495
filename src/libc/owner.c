/* SPDX-License-Identifier: MIT */
#include "libc/owner.h"

#include <stdatomic.h>
#include <unistd.h>

/* Written by the constructor and in children of fork; 0 before. */
static _Atomic pid_t owner;

bool libc_owner_is_here(void)
{
    /* relaxed: written before any second thread exists. */
    pid_t known = atomic_load_explicit(&owner, memory_order_relaxed);
    return known == 0 || known == getpid();
}

void libc_owner_note(void)
{
    atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
}
