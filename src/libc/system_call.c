/* SPDX-License-Identifier: MIT */
/* syscall(): system calls by number, past libc's functions. Lapwing's own calls do
 * not come here (--wrap=syscall, base/system_call_own.c). */
#include <limits.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "libc/close.h"
#include "libc/real.h"
#include "libc/use.h"
#include "op/session.h"

/* Pointers and numbers share their places, and a number overlaps no memory. */
static void call_use_futex(long word, long timeout, long second_word)
{
    if (!libc_use_is_failing())
        return;
    libc_use_writes((void *)word, sizeof(int));
    libc_use_reads((void *)timeout, sizeof(struct timespec));
    libc_use_writes((void *)second_word, sizeof(int));
}

/* Said of pages that are away, it would be forgotten when they come back. */
static void call_use_policy(long address, long length_bytes, long nodes, long node_count)
{
    libc_use_writes((void *)address, (size_t)length_bytes);
    libc_use_reads((void *)nodes, (size_t)node_count / CHAR_BIT);
}

/* A clone that copies the process waits for all, as the table's do. A call of which
 * nothing is known may use any memory, which only matters where the kernel does not wait
 * by itself; and it may look at what a peer has left, as open() does. */
static void call_use_unknown(long number, long flags)
{
    bool is_copying = number == SYS_clone && !(flags & CLONE_VM);
    if (is_copying || libc_use_is_failing())
        libc_use_all();
    else
        libc_use_known_received();
}

static void call_use(long number, long a, long b, long c, long d, long e, long f)
{
    libc_use_drain();
    if (!protect_armed_is_any())
        return;
    if (number == SYS_futex)
        call_use_futex(a, d, e);
    else if (number == SYS_madvise)
        libc_use_writes((void *)a, (size_t)b);
    else if (number == SYS_mbind)
        call_use_policy(a, b, d, e);
    else if (!libc_use_system_call(number, a, b, c, d, e, f))
        call_use_unknown(number, a);
}

/* A child that shares this memory is a thread to us. clone3 says so in memory. */
static bool call_makes_thread(long number, long flags)
{
    return number == SYS_clone3 || (number == SYS_clone && flags & CLONE_VM);
}

/* Who only asks which flags the kernel knows gives no program (seccomp(2)). */
static bool call_sets_filter(long number, long a, long b, long c)
{
    if (number == SYS_prctl)
        return a == PR_SET_SECCOMP && (b == SECCOMP_MODE_STRICT || c != 0);
    return number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c != 0));
}

static bool call_hides(long number, long a, long b)
{
    if (number == SYS_prctl)
        return libc_use_is_hiding(a, (unsigned long)b);
    return number == SYS_exit && libc_use_is_first_thread();
}

/* What must be known of even while nothing is armed. */
static void call_note(long number, long a, long b, long c, long d)
{
    if (number == SYS_userfaultfd)
        session_meet_watcher();
    if (number == SYS_io_uring_setup)
        session_meet_registration();
    if (number == SYS_pkey_mprotect)
        libc_use_key((int)d);
    if (call_sets_filter(number, a, b, c))
        libc_use_filters(true);
    if (call_hides(number, a, b))
        libc_use_hides(true);
    if (number == SYS_mlock || number == SYS_mlock2)
        libc_use_locks((const void *)a, (size_t)b);
    if (number == SYS_mlockall)
        libc_use_locks(NULL, SIZE_MAX);
}

static bool call_remaps(long number)
{
    return number == SYS_mmap || number == SYS_mremap || number == SYS_mprotect || number == SYS_pkey_mprotect ||
           number == SYS_shmat;
}

long libc_entry_syscall(long number, long a, long b, long c, long d, long e, long f) LIBC_ENTRY(syscall);
long libc_entry_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    call_note(number, a, b, c, d);
    libc_use_threads(call_makes_thread(number, a), __builtin_return_address(0));
    if (!libc_use_is_idle())
        call_use(number, a, b, c, d, e, f);
    long result;
    if (!libc_close_does(number, a, b, c, &result))
        result = (LIBC_REAL(syscall))(number, a, b, c, d, e, f);
    libc_use_remaps(call_remaps(number));
    libc_use_maps_locked(number == SYS_mmap && (d & MAP_LOCKED), (const void *)result, (size_t)b);
    return result;
}
