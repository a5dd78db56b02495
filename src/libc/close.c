/* SPDX-License-Identifier: MIT */
/* close and its kin, for which Lapwing's own descriptors do not exist. */
#include "libc/close.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

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

typedef int close_range_fn(unsigned first, unsigned last, int flags);

/* All but own ones. */
static int close_between(close_range_fn *real, unsigned first, unsigned last, int flags)
{
    if (first > last)
        return real(first, last, flags);
    session_note_closed(first);
    for (int own = base_descriptor_own_from(first, last); own >= 0; own = base_descriptor_own_from(first, last)) {
        if ((unsigned)own > first && real(first, (unsigned)own - 1, flags) != 0)
            return -1;
        first = (unsigned)own + 1;
    }
    return first <= last ? real(first, last, flags) : 0;
}

int libc_entry_close_range(unsigned first, unsigned last, int flags) LIBC_ENTRY(close_range);
int libc_entry_close_range(unsigned first, unsigned last, int flags)
{
    return close_between(LIBC_REAL(close_range), first, last, flags);
}

void libc_entry_closefrom(int lowest) LIBC_ENTRY(closefrom);
void libc_entry_closefrom(int lowest)
{
    unsigned first = lowest > 0 ? (unsigned)lowest : 0;
    session_note_closed(first);
    if (base_descriptor_own_from(first, UINT_MAX) < 0)
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

enum { CALL_CLOSE_RANGE = 436 }; /* on every processor; Linux 5.9, newer than some headers */
#ifdef SYS_dup2
enum { CALL_DUP2 = SYS_dup2 };
#else
enum { CALL_DUP2 = -1 }; /* aarch64 has none */
#endif

/* Not libc's, which may lack it (before 2.34). */
static int close_range_by_number(unsigned first, unsigned last, int flags)
{
    return (int)syscall(CALL_CLOSE_RANGE, first, last, flags);
}

bool libc_close_does(long number, long a, long b, long c, long *result)
{
    if (number == SYS_close)
        *result = libc_entry_close((int)a);
    else if (number == CALL_CLOSE_RANGE)
        *result = close_between(close_range_by_number, (unsigned)a, (unsigned)b, (int)c);
    else if (number == SYS_dup3)
        *result = libc_entry_dup3((int)a, (int)b, (int)c);
    else if (number == CALL_DUP2)
        *result = libc_entry_dup2((int)a, (int)b);
    else
        return false;
    return true;
}
