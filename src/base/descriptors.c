/* SPDX-License-Identifier: MIT */
#include "base/descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* LOWEST: above what select() can take, where the limit allows. */
enum { OWN_MAX = 8, LOWEST = 1024, ROOM = 16 };

/* Number plus 1; 0: unused. Written by who opens and closes, read by any thread. */
static _Atomic int own[OWN_MAX];

static int descriptor_lowest(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > LOWEST + ROOM)
        return LOWEST;
    return limit.rlim_cur > 2 * ROOM ? (int)limit.rlim_cur - ROOM : 3;
}

static void descriptor_remember(int descriptor)
{
    for (int i = 0; i < OWN_MAX; i++) {
        int unused = 0;
        /* relaxed: a number means nothing to a thread that did not open it. */
        if (atomic_compare_exchange_strong_explicit(&own[i], &unused, descriptor + 1, memory_order_relaxed,
                                                    memory_order_relaxed))
            return;
    }
}

int base_descriptor_own(int descriptor)
{
    if (descriptor < 0)
        return descriptor;
    int moved = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, descriptor_lowest());
    if (moved >= 0)
        syscall(SYS_close, descriptor);
    else
        moved = descriptor;
    descriptor_remember(moved);
    return moved;
}

void base_descriptor_close(int descriptor)
{
    if (descriptor < 0)
        return;
    for (int i = 0; i < OWN_MAX; i++) {
        int number = descriptor + 1;
        atomic_compare_exchange_strong_explicit(&own[i], &number, 0, memory_order_relaxed, memory_order_relaxed);
    }
    syscall(SYS_close, descriptor);
}

void base_descriptor_make_room(void)
{
    base_descriptor_close(base_descriptor_own(eventfd(0, EFD_CLOEXEC)));
}

bool base_descriptor_is_own(int descriptor)
{
    for (int i = 0; i < OWN_MAX; i++) {
        if (atomic_load_explicit(&own[i], memory_order_relaxed) == descriptor + 1)
            return descriptor >= 0;
    }
    return false;
}

int base_descriptor_own_from(unsigned first, unsigned last)
{
    unsigned lowest = UINT_MAX;
    for (int i = 0; i < OWN_MAX; i++) {
        unsigned descriptor = (unsigned)atomic_load_explicit(&own[i], memory_order_relaxed) - 1; /* unused: UINT_MAX */
        if (first <= descriptor && descriptor <= last && descriptor < lowest)
            lowest = descriptor;
    }
    return lowest == UINT_MAX ? -1 : (int)lowest;
}
