/* SPDX-License-Identifier: MIT */
#include "op/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The entry of getdents64(2), for which glibc 2.28 has no type. */
struct entry {
    uint64_t inode;
    int64_t next;
    unsigned short length_bytes;
    unsigned char type;
    char name[];
};

static const char *const transports[] = {"/dev/infiniband/", "/dev/cxi", "/dev/hfi1", "/dev/efa", "/dev/knem"};

/* Beside files, folders, pipes, sockets and block devices, which the kernel's file types tell. */
static const char *const harmless[] = {
    "anon_inode:[eventfd]",
    "anon_inode:[eventpoll]",
    "anon_inode:[timerfd]",
    "anon_inode:[signalfd]",
    "anon_inode:inotify",
    "anon_inode:[fanotify]",
    "anon_inode:[pidfd]",
    "anon_inode:[userfaultfd]",
    "anon_inode:[perf_event]",
    "anon_inode:bpf-",
    "anon_inode:[landlock-",
    "anon_inode:seccomp notify",
    "/dev/userfaultfd",
    "/dev/fuse",
    "/dev/cpu",
    "/dev/rtc",
    "/dev/ptp",
    "/dev/hpet",
};

/* Numbers of the memory devices (null, zero, random, ...) and of terminals: Documentation/admin-guide/devices.txt.
 * A container may show them under other names. */
static bool device_is_harmless(unsigned number)
{
    enum { MEMORY = 1, TERMINAL = 4, TERMINAL_OTHER = 5, PSEUDO_FIRST = 136, PSEUDO_LAST = 143 };
    return number == MEMORY || number == TERMINAL || number == TERMINAL_OTHER ||
           (number >= PSEUDO_FIRST && number <= PSEUDO_LAST);
}

static bool mode_is_file(mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISBLK(mode) || S_ISLNK(mode);
}

static enum reason link_reason(const char *target)
{
    if (base_text_begins_any(target, transports, COUNT(transports)))
        return REASON_TRANSPORT;
    return base_text_begins_any(target, harmless, COUNT(harmless)) ? REASON_NONE : REASON_MEMORY_DEVICE;
}

/* A descriptor that has been closed meanwhile is no device. */
static enum reason descriptor_reason(int folder, const char *name)
{
    char target[256] = "";
    struct stat status;
    ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
    if (length < 0)
        return errno == ENOENT ? REASON_NONE : REASON_MEMORY_DEVICE;
    enum reason reason = link_reason(target);
    if (reason != REASON_MEMORY_DEVICE)
        return reason;
    if (syscall(SYS_fstat, atoi(name), &status) != 0)
        return errno == EBADF ? REASON_NONE : REASON_MEMORY_DEVICE;
    bool is_known = S_ISCHR(status.st_mode) ? device_is_harmless(major(status.st_rdev)) : mode_is_file(status.st_mode);
    return is_known ? REASON_NONE : REASON_MEMORY_DEVICE;
}

static enum reason entry_reason(int folder, const struct entry *entry)
{
    bool is_number = entry->name[0] >= '0' && entry->name[0] <= '9';
    return is_number && !base_descriptor_is_own(atoi(entry->name)) ? descriptor_reason(folder, entry->name)
                                                                   : REASON_NONE;
}

/* A transport says more than a device of which nothing is known. */
static enum reason worse_of(enum reason a, enum reason b)
{
    return a == REASON_TRANSPORT || b == REASON_NONE ? a : b;
}

static enum reason entries_reason(int folder, const char *buffer, long length_bytes)
{
    enum reason found = REASON_NONE;
    for (long at = 0; at < length_bytes;) {
        const struct entry *entry = (const struct entry *)(buffer + at);
        found = worse_of(found, entry_reason(folder, entry));
        at += entry->length_bytes;
    }
    return found;
}

static enum reason folder_reason(int folder)
{
    _Alignas(struct entry) char buffer[2048];
    enum reason found = REASON_NONE;
    long length_bytes = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    for (; length_bytes > 0; length_bytes = syscall(SYS_getdents64, folder, buffer, sizeof buffer))
        found = worse_of(found, entries_reason(folder, buffer, length_bytes));
    return length_bytes < 0 ? worse_of(found, REASON_MEMORY_DEVICE) : found;
}

/* The folder's own number moves up before the list is read, so that whatever is opened from then on takes the number
 * that is looked at next time. */
static enum reason devices_list(_Atomic int *lowest_free)
{
    int opened = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (opened < 0)
        return REASON_MEMORY_DEVICE;
    int folder = base_descriptor_own(opened);
    enum reason found = folder_reason(folder);
    base_descriptor_close(folder);
    atomic_store_explicit(lowest_free, opened, memory_order_relaxed);
    return found;
}

enum reason devices_look(_Atomic int *lowest_free)
{
    int saved_errno = errno;
    int number = atomic_load_explicit(lowest_free, memory_order_relaxed);
    bool is_unchanged = number >= 0 && syscall(SYS_fcntl, number, F_GETFD) < 0;
    enum reason found = is_unchanged ? REASON_NONE : devices_list(lowest_free);
    errno = saved_errno;
    return found;
}

void devices_note_closed(_Atomic int *lowest_free, unsigned number)
{
    int known = atomic_load_explicit(lowest_free, memory_order_relaxed);
    if (known >= 0 && number < (unsigned)known)
        atomic_store_explicit(lowest_free, DEVICES_UNLISTED, memory_order_relaxed);
}
