/* SPDX-License-Identifier: MIT */
/* close and its kin, for which Lapwing's own descriptors do not exist. */
#include <errno.h>
#include <limits.h>

#include "base/descriptors.h"
#include "op/session.h"
#include "libc/real.h"

int libc_entry_close(int descriptor) LIBC_ENTRY(close);
int libc_entry_close(int descriptor)
{
    if (base_descriptor_is_own(descriptor)) {
        errno = EBADF;
        return -1;
    }
    session_note_closed((unsigned)descriptor);
    return LIBC_REAL(close)(descriptor);
}

/* The first own descriptor in [first, last], or -1. Own ones are few and high. */
static int own_find(unsigned first, unsigned last)
{
    enum { OWN_HIGHEST = 4096 };
    unsigned end = last < OWN_HIGHEST ? last : OWN_HIGHEST;
    for (unsigned descriptor = first; descriptor <= end; descriptor++) {
        if (base_descriptor_is_own((int)descriptor))
            return (int)descriptor;
    }
    return -1;
}

int libc_entry_close_range(unsigned first, unsigned last, int flags) LIBC_ENTRY(close_range);
int libc_entry_close_range(unsigned first, unsigned last, int flags)
{
    if (first > last)
        return LIBC_REAL(close_range)(first, last, flags);
    session_note_closed(first);
    for (int own = own_find(first, last); own >= 0; own = own_find(first, last)) {
        if ((unsigned)own > first && LIBC_REAL(close_range)(first, (unsigned)own - 1, flags) != 0)
            return -1;
        first = (unsigned)own + 1;
    }
    return first <= last ? LIBC_REAL(close_range)(first, last, flags) : 0;
}

void libc_entry_closefrom(int lowest) LIBC_ENTRY(closefrom);
void libc_entry_closefrom(int lowest)
{
    unsigned first = lowest > 0 ? (unsigned)lowest : 0;
    session_note_closed(first);
    if (own_find(first, UINT_MAX) < 0)
        LIBC_REAL(closefrom)(lowest);
    else
        (void)libc_entry_close_range(first, UINT_MAX, 0);
}

/* dup2 onto one of ours would close it. */
static int duplicate_refused(void)
{
    errno = EBADF;
    return -1;
}

int libc_entry_dup2(int descriptor, int target) LIBC_ENTRY(dup2);
int libc_entry_dup2(int descriptor, int target)
{
    session_note_closed((unsigned)target);
    return base_descriptor_is_own(target) ? duplicate_refused() : LIBC_REAL(dup2)(descriptor, target);
}

int libc_entry_dup3(int descriptor, int target, int flags) LIBC_ENTRY(dup3);
int libc_entry_dup3(int descriptor, int target, int flags)
{
    session_note_closed((unsigned)target);
    return base_descriptor_is_own(target) ? duplicate_refused() : LIBC_REAL(dup3)(descriptor, target, flags);
}
