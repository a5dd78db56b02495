/* SPDX-License-Identifier: MIT */
/* System calls without libc's entries. UCX (seen in 1.13.1) patches libc's
 * mremap and forwards four of its five arguments, so that MREMAP_FIXED would
 * move pages to address 0; other memory hooks do alike. And Lapwing interposes
 * read() and its kin itself. */
#ifndef PROTECT_KERNEL_H
#define PROTECT_KERNEL_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/range.h"
#include "base/signal_set.h"

/* The kernel's struct sigaction; alike on x86-64 and aarch64. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

static inline uintptr_t kernel_mremap(struct range pages, unsigned long flags, uintptr_t target)
{
    size_t length_bytes = pages.high - pages.low;
    return (uintptr_t)syscall(SYS_mremap, pages.low, length_bytes, length_bytes, flags, target);
}

static inline bool kernel_mprotect(struct range pages, int access)
{
    return syscall(SYS_mprotect, pages.low, pages.high - pages.low, access) == 0;
}

/* key 0: everybody's. */
static inline bool kernel_mprotect_key(struct range pages, int access, int key)
{
    return syscall(SYS_pkey_mprotect, pages.low, pages.high - pages.low, access, key) == 0;
}

static inline int kernel_ioctl(int descriptor, unsigned long request, void *argument)
{
    return (int)syscall(SYS_ioctl, descriptor, request, argument);
}

static inline ssize_t kernel_read(int descriptor, void *buffer, size_t length_bytes)
{
    return syscall(SYS_read, descriptor, buffer, length_bytes);
}

static inline ssize_t kernel_pread(int descriptor, void *buffer, size_t length_bytes, size_t offset_bytes)
{
    return syscall(SYS_pread64, descriptor, buffer, length_bytes, offset_bytes);
}

/* Memory of this process that may not be there: EFAULT then, where a plain read would end it. One call copies less than
 * 2 GiB. */
static inline bool kernel_copy(void *buffer, uintptr_t address, size_t length_bytes)
{
    long own = syscall(SYS_getpid);
    long copied = 0;
    for (size_t done_bytes = 0; done_bytes < length_bytes; done_bytes += (size_t)copied) {
        struct iovec to = {(char *)buffer + done_bytes, length_bytes - done_bytes};
        struct iovec from = {(void *)(address + done_bytes), length_bytes - done_bytes};
        copied = syscall(SYS_process_vm_readv, own, &to, 1L, &from, 1L, 0L);
        if (copied <= 0)
            return false;
    }
    return true;
}

/* The descriptor, or -1. `flags` is O_*. */
static inline int kernel_open(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

static inline void kernel_close(int descriptor)
{
    syscall(SYS_close, descriptor);
}

/* Blocks every signal of the calling thread; returns the mask to restore. */
static inline uint64_t kernel_signals_block(void)
{
    uint64_t every = UINT64_MAX;
    uint64_t before = 0;
    enum { BLOCK = 0 }; /* SIG_BLOCK, without <signal.h> in every file */
    syscall(SYS_rt_sigprocmask, BLOCK, &every, &before, BASE_SIGNAL_SET_BYTES);
    return before;
}

static inline void kernel_signals_restore(uint64_t mask)
{
    enum { SETMASK = 2 };
    syscall(SYS_rt_sigprocmask, SETMASK, &mask, NULL, BASE_SIGNAL_SET_BYTES);
}

/* A lock that signal handlers may want, too: no signal comes while it is taken. Returns what to release it with. */
static inline uint64_t kernel_lock_take(struct base_lock *lock)
{
    uint64_t mask = kernel_signals_block();
    base_lock_take(lock);
    return mask;
}

static inline void kernel_lock_release(struct base_lock *lock, uint64_t mask)
{
    base_lock_release(lock);
    kernel_signals_restore(mask);
}

#endif
