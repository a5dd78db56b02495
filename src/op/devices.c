/* SPDX-License-Identifier: MIT */
#include "op/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/folder.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What is open: any of these. */
enum { TRANSPORT = 1, UNKNOWN = 2 };

/* The second and the third: what a device tells by verbs, and by mlx5's own interface. */
static const char *const transports[] = {
    "/dev/infiniband/", "anon_inode:[infinibandevent]", "anon_inode:[devx_async", "/dev/cxi", "/dev/hfi1", "/dev/efa",
    "/dev/knem"};

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

static unsigned link_kinds(const char *target)
{
    if (base_text_begins_any(target, transports, COUNT(transports)))
        return TRANSPORT;
    return base_text_begins_any(target, harmless, COUNT(harmless)) ? 0 : UNKNOWN;
}

enum { TARGET_BYTES = 256 };

static ssize_t target_read(int folder, const char *name, char *target)
{
    ssize_t length = readlinkat(folder, name, target, TARGET_BYTES - 1);
    target[length > 0 ? length : 0] = '\0';
    return length;
}

static bool target_has_changed(int folder, const char *name, const char *target)
{
    char now[TARGET_BYTES];
    target_read(folder, name, now);
    return !base_text_is(now, target);
}

static unsigned status_kinds(const char *name)
{
    struct stat status;
    if (syscall(SYS_fstat, atoi(name), &status) != 0)
        return errno == EBADF ? 0 : UNKNOWN;
    bool is_known = S_ISCHR(status.st_mode) ? device_is_harmless(major(status.st_rdev)) : mode_is_file(status.st_mode);
    return is_known ? 0 : UNKNOWN;
}

/* A descriptor that has been closed meanwhile is no device. *has_changed: another thread has opened something else
 * under its number between the two looks. */
static unsigned descriptor_look(int folder, const char *name, bool *has_changed)
{
    char target[TARGET_BYTES];
    *has_changed = false;
    if (target_read(folder, name, target) < 0)
        return errno == ENOENT ? 0 : UNKNOWN;
    unsigned kinds = link_kinds(target);
    if (kinds == UNKNOWN)
        kinds = status_kinds(name);
    *has_changed = kinds == UNKNOWN && target_has_changed(folder, name, target);
    return kinds;
}

static unsigned descriptor_kinds(int folder, const char *name)
{
    enum { LOOKS_MAX = 1000 };
    bool has_changed = true;
    unsigned kinds = 0;
    for (int looks = 0; has_changed && looks < LOOKS_MAX; looks++)
        kinds = descriptor_look(folder, name, &has_changed);
    return kinds;
}

struct listing {
    int folder;
    unsigned kinds;
    bool is_filled;
};

static void descriptor_visit(const char *name, void *context)
{
    struct listing *listing = context;
    listing->is_filled = true;
    if (!base_descriptor_is_own(atoi(name)))
        listing->kinds |= descriptor_kinds(listing->folder, name);
}

/* The list has the folder itself at least, except when the initial thread has ended: then it tells nothing. */
static unsigned folder_kinds(int folder)
{
    struct listing listing = {.folder = folder};
    bool is_whole = base_folder_visit_numbers(folder, descriptor_visit, &listing);
    return is_whole && listing.is_filled ? listing.kinds : listing.kinds | UNKNOWN;
}

/* The folder's own number moves up before the list is read, so that whatever is opened from then on takes the number
 * that is looked at next time. */
static unsigned devices_list(_Atomic int *lowest_free)
{
    int opened = base_folder_open("/proc/self/fd");
    if (opened < 0)
        return UNKNOWN;
    int folder = base_descriptor_own(opened);
    unsigned found = folder_kinds(folder);
    base_descriptor_close(folder);
    atomic_store_explicit(lowest_free, opened, memory_order_relaxed);
    return found;
}

/* A transport says more than a device of which nothing is known, unless it is allowed. */
static enum reason kinds_reason(unsigned kinds, bool allows_transports)
{
    if ((kinds & TRANSPORT) != 0 && !allows_transports)
        return REASON_TRANSPORT;
    return (kinds & UNKNOWN) != 0 ? REASON_MEMORY_DEVICE : REASON_NONE;
}

enum reason devices_look(_Atomic int *lowest_free, bool allows_transports)
{
    int saved_errno = errno;
    int number = atomic_load_explicit(lowest_free, memory_order_relaxed);
    bool is_unchanged = number >= 0 && syscall(SYS_fcntl, number, F_GETFD) < 0;
    unsigned found = is_unchanged ? 0 : devices_list(lowest_free);
    errno = saved_errno;
    return kinds_reason(found, allows_transports);
}

bool devices_may_be_transports(void)
{
    static const char *const firsts[] = {"/dev/infiniband", "/dev/cxi0", "/dev/hfi1_0", "/dev/knem"};
    int saved_errno = errno;
    bool is_any = false;
    for (size_t i = 0; i < COUNT(firsts) && !is_any; i++)
        is_any = syscall(SYS_faccessat, AT_FDCWD, firsts[i], F_OK) == 0;
    errno = saved_errno;
    return is_any;
}

void devices_note_closed(_Atomic int *lowest_free, unsigned number)
{
    int known = atomic_load_explicit(lowest_free, memory_order_relaxed);
    if (known >= 0 && number < (unsigned)known)
        atomic_store_explicit(lowest_free, DEVICES_UNLISTED, memory_order_relaxed);
}
