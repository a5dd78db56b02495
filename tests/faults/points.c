/* SPDX-License-Identifier: MIT */
/* Fault points. Linked into a copy of the preload in place of base/system_call_own.c, and between Lapwing's own code
 * and the functions of libc that its code calls (--wrap), so that each of these calls can fail at a chosen time. What
 * the program and the MPI library call goes past here. tests/faults/run.py sets:
 *
 *     FAULT_TRACE  a folder: each rank leaves a file there, see struct trace
 *     FAULT_RANK   the rank in which a call fails
 *     FAULT_AT     KIND:N, its N-th call of this kind fails, once; KIND:N+, that one and all after it */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The system call itself, as the preload has it. */
#define __wrap_syscall point_system_call
#include "base/system_call_own.c"
#undef __wrap_syscall

enum { CALLS_MAX = 1 << 18, KIND_SHIFT = 24 };

/* The order is that of KINDS in run.py. */
enum kind {
    KIND_MMAP,
    KIND_MUNMAP,
    KIND_MREMAP,
    KIND_MPROTECT,
    KIND_MADVISE,
    KIND_IOCTL,
    KIND_USERFAULTFD,
    KIND_OPEN,
    KIND_READ,
    KIND_PREAD,
    KIND_WRITE,
    KIND_PWRITE,
    KIND_WRITEV,
    KIND_VM_READ,
    KIND_FCNTL,
    KIND_FUTEX_WAIT,
    KIND_EPOLL_CREATE,
    KIND_EPOLL_CTL,
    KIND_EPOLL_WAIT,
    KIND_EPOLL_PWAIT2,
    KIND_PPOLL,
    KIND_GETSOCKOPT,
    KIND_STAT,
    KIND_GETDENTS,
    KIND_FALLOCATE,
    KIND_FTRUNCATE,
    KIND_PRLIMIT,
    KIND_NANOSLEEP,
    KIND_CLOSE,
    KIND_LINK,
    KIND_UNLINK,
    KIND_EVENTFD,
    KIND_CLONE,
    KIND_AFFINITY,
    KIND_PRIORITY,
    KIND_MALLOC,
    KIND_OPENDIR,
    KIND_READLINK,
    KIND_SIGACTION,
    KIND_PKEY_ALLOC,
    KIND_PKEY_MPROTECT,
    KINDS
};

static const struct {
    const char *name;
    int error;
} kinds[KINDS] = {
    [KIND_MMAP] = {"mmap", ENOMEM},
    [KIND_MUNMAP] = {"munmap", ENOMEM},
    [KIND_MREMAP] = {"mremap", ENOMEM},
    [KIND_MPROTECT] = {"mprotect", ENOMEM},
    [KIND_MADVISE] = {"madvise", EAGAIN},
    [KIND_IOCTL] = {"ioctl", ENOMEM},
    [KIND_USERFAULTFD] = {"userfaultfd", EMFILE},
    [KIND_OPEN] = {"open", EMFILE},
    [KIND_READ] = {"read", EINTR},
    [KIND_PREAD] = {"pread", EIO},
    [KIND_WRITE] = {"write", EINTR},
    [KIND_PWRITE] = {"pwrite", ENOSPC},
    [KIND_WRITEV] = {"writev", ENOSPC},
    [KIND_VM_READ] = {"process_vm_readv", EPERM},
    [KIND_FCNTL] = {"fcntl", EMFILE},
    [KIND_FUTEX_WAIT] = {"futex_wait", EINTR},
    [KIND_EPOLL_CREATE] = {"epoll_create", EMFILE},
    [KIND_EPOLL_CTL] = {"epoll_ctl", ENOMEM},
    [KIND_EPOLL_WAIT] = {"epoll_wait", EINTR},
    [KIND_EPOLL_PWAIT2] = {"epoll_pwait2", EPERM},
    [KIND_PPOLL] = {"ppoll", EINTR},
    [KIND_GETSOCKOPT] = {"getsockopt", ENOBUFS},
    [KIND_STAT] = {"stat", EIO},
    [KIND_GETDENTS] = {"getdents", EIO},
    [KIND_FALLOCATE] = {"fallocate", ENOSPC},
    [KIND_FTRUNCATE] = {"ftruncate", EIO},
    [KIND_PRLIMIT] = {"prlimit", EPERM},
    [KIND_NANOSLEEP] = {"nanosleep", EINTR},
    [KIND_CLOSE] = {"close", EIO},
    [KIND_LINK] = {"link", ENOSPC},
    [KIND_UNLINK] = {"unlink", EROFS},
    [KIND_EVENTFD] = {"eventfd", EMFILE},
    [KIND_CLONE] = {"clone", EAGAIN},
    [KIND_AFFINITY] = {"affinity", EINVAL},
    [KIND_PRIORITY] = {"priority", EACCES},
    [KIND_MALLOC] = {"malloc", ENOMEM},
    [KIND_OPENDIR] = {"opendir", EMFILE},
    [KIND_READLINK] = {"readlink", EACCES},
    [KIND_SIGACTION] = {"sigaction", EINVAL},
    [KIND_PKEY_ALLOC] = {"pkey_alloc", ENOSPC},
    [KIND_PKEY_MPROTECT] = {"pkey_mprotect", ENOMEM},
};

static const struct {
    long number;
    enum kind kind;
} numbers[] = {
    {SYS_mmap, KIND_MMAP},
    {SYS_munmap, KIND_MUNMAP},
    {SYS_mremap, KIND_MREMAP},
    {SYS_mprotect, KIND_MPROTECT},
    {SYS_pkey_alloc, KIND_PKEY_ALLOC},
    {SYS_pkey_mprotect, KIND_PKEY_MPROTECT},
    {SYS_madvise, KIND_MADVISE},
    {SYS_ioctl, KIND_IOCTL},
    {SYS_userfaultfd, KIND_USERFAULTFD},
    {SYS_openat, KIND_OPEN},
    {SYS_read, KIND_READ},
    {SYS_pread64, KIND_PREAD},
    {SYS_write, KIND_WRITE},
    {SYS_pwrite64, KIND_PWRITE},
    {SYS_writev, KIND_WRITEV},
    {SYS_process_vm_readv, KIND_VM_READ},
    {SYS_fcntl, KIND_FCNTL},
    {SYS_epoll_pwait2, KIND_EPOLL_PWAIT2},
    {SYS_ppoll, KIND_PPOLL},
    {SYS_getsockopt, KIND_GETSOCKOPT},
    {SYS_fstat, KIND_STAT},
    {SYS_newfstatat, KIND_STAT},
    {SYS_getdents64, KIND_GETDENTS},
    {SYS_fallocate, KIND_FALLOCATE},
    {SYS_ftruncate, KIND_FTRUNCATE},
    {SYS_prlimit64, KIND_PRLIMIT},
    {SYS_nanosleep, KIND_NANOSLEEP},
    {SYS_rt_sigaction, KIND_SIGACTION},
};

/* One word for each call: its kind, and where in the preload it was made. failed: the word of the call that failed
 * first; 0 when none has. */
struct trace {
    _Atomic uint32_t count;
    _Atomic uint32_t failed;
    _Atomic uint32_t calls[CALLS_MAX];
};

static struct {
    struct trace *trace; /* NULL: no point is counted in this process */
    enum kind kind;
    uint32_t first;
    bool is_lasting;
    _Atomic uint32_t seen[KINDS];
} points = {.kind = KINDS};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static bool is_to_fail(enum kind kind)
{
    uint32_t number = atomic_fetch_add_explicit(&points.seen[kind], 1, memory_order_relaxed) + 1;
    return kind == points.kind && (number == points.first || (points.is_lasting && number > points.first));
}

static void note(uint32_t call, bool fails)
{
    uint32_t none = 0;
    uint32_t place = atomic_fetch_add_explicit(&points.trace->count, 1, memory_order_relaxed);
    if (place < CALLS_MAX)
        atomic_store_explicit(&points.trace->calls[place], call, memory_order_relaxed);
    if (fails)
        atomic_compare_exchange_strong_explicit(&points.trace->failed, &none, call, memory_order_relaxed,
                                                memory_order_relaxed);
}

/* Also in signal context. */
static bool fails(enum kind kind, const void *caller)
{
    if (points.trace == NULL)
        return false;
    bool is_failing = is_to_fail(kind);
    note(((uint32_t)kind << KIND_SHIFT) | (uint32_t)((const char *)caller - __ehdr_start), is_failing);
    if (is_failing)
        errno = kinds[kind].error;
    return is_failing;
}

/* --- what run.py asks for --- */

static const char *own_rank(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL ? rank : getenv("PMI_RANK");
}

static void choose(const char *wish)
{
    const char *colon = strchr(wish, ':');
    for (enum kind kind = 0; colon != NULL && kind < KINDS; kind++)
        if (strlen(kinds[kind].name) == (size_t)(colon - wish) && strncmp(wish, kinds[kind].name, colon - wish) == 0)
            points.kind = kind;
    char *end = NULL;
    points.first = colon == NULL ? 0 : (uint32_t)strtoul(colon + 1, &end, 10);
    points.is_lasting = end != NULL && *end == '+';
}

/* A rank's first program only: what it starts finds the file there. */
static struct trace *trace_make(const char *folder, const char *rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.trace", folder, rank);
    int file =
        (int)point_system_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, 0, 0);
    if (file < 0 || point_system_call(SYS_ftruncate, file, sizeof(struct trace), 0, 0, 0, 0) != 0)
        return NULL;
    long mapped = point_system_call(SYS_mmap, 0, sizeof(struct trace), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    point_system_call(SYS_close, file, 0, 0, 0, 0, 0);
    return mapped == -1 ? NULL : (struct trace *)mapped;
}

__attribute__((constructor(101))) static void points_start(void)
{
    const char *folder = getenv("FAULT_TRACE");
    const char *rank = own_rank();
    const char *wish = getenv("FAULT_AT");
    const char *chosen = getenv("FAULT_RANK");
    if (folder == NULL || rank == NULL)
        return;
    if (wish != NULL && chosen != NULL && strcmp(rank, chosen) == 0)
        choose(wish);
    points.trace = trace_make(folder, rank);
}

/* --- system calls by number --- */

static enum kind kind_of(long number, long operation)
{
    if (number == SYS_futex)
        return (operation & FUTEX_CMD_MASK) == FUTEX_WAIT ? KIND_FUTEX_WAIT : KINDS;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].number == number)
            return numbers[i].kind;
    return KINDS;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    enum kind kind = kind_of(number, b);
    if (kind != KINDS && fails(kind, __builtin_return_address(0)))
        return -1;
    return point_system_call(number, a, b, c, d, e, f);
}

/* --- functions of libc --- */

void *__real_mmap(void *address, size_t length, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t length, int access, int flags, int file, off_t offset)
{
    if (fails(KIND_MMAP, __builtin_return_address(0)))
        return MAP_FAILED;
    return __real_mmap(address, length, access, flags, file, offset);
}

int __real_munmap(void *address, size_t length);
int __wrap_munmap(void *address, size_t length)
{
    return fails(KIND_MUNMAP, __builtin_return_address(0)) ? -1 : __real_munmap(address, length);
}

int __real_mprotect(void *address, size_t length, int access);
int __wrap_mprotect(void *address, size_t length, int access)
{
    return fails(KIND_MPROTECT, __builtin_return_address(0)) ? -1 : __real_mprotect(address, length, access);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(KIND_OPEN, __builtin_return_address(0)) ? -1 : __real_open(path, flags, mode);
}

int __real_close(int file);
int __wrap_close(int file)
{
    bool is_failing = fails(KIND_CLOSE, __builtin_return_address(0));
    int error = errno;
    int result = __real_close(file); /* as Linux does, whatever it answers */
    errno = is_failing ? error : errno;
    return is_failing ? -1 : result;
}

ssize_t __real_read(int file, void *buffer, size_t length);
ssize_t __wrap_read(int file, void *buffer, size_t length)
{
    return fails(KIND_READ, __builtin_return_address(0)) ? -1 : __real_read(file, buffer, length);
}

ssize_t __real_write(int file, const void *buffer, size_t length);
ssize_t __wrap_write(int file, const void *buffer, size_t length)
{
    return fails(KIND_WRITE, __builtin_return_address(0)) ? -1 : __real_write(file, buffer, length);
}

ssize_t __real_writev(int file, const struct iovec *parts, int count);
ssize_t __wrap_writev(int file, const struct iovec *parts, int count)
{
    return fails(KIND_WRITEV, __builtin_return_address(0)) ? -1 : __real_writev(file, parts, count);
}

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to)
{
    return fails(KIND_LINK, __builtin_return_address(0)) ? -1 : __real_link(from, to);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    return fails(KIND_UNLINK, __builtin_return_address(0)) ? -1 : __real_unlink(path);
}

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags)
{
    return fails(KIND_EVENTFD, __builtin_return_address(0)) ? -1 : __real_eventfd(count, flags);
}

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags)
{
    return fails(KIND_EPOLL_CREATE, __builtin_return_address(0)) ? -1 : __real_epoll_create1(flags);
}

int __real_epoll_ctl(int set, int operation, int file, struct epoll_event *event);
int __wrap_epoll_ctl(int set, int operation, int file, struct epoll_event *event)
{
    return fails(KIND_EPOLL_CTL, __builtin_return_address(0)) ? -1 : __real_epoll_ctl(set, operation, file, event);
}

int __real_epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms);
int __wrap_epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms)
{
    return fails(KIND_EPOLL_WAIT, __builtin_return_address(0)) ? -1 : __real_epoll_wait(set, events, most, timeout_ms);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (fails(KIND_CLONE, __builtin_return_address(0)))
        return kinds[KIND_CLONE].error;
    return __real_pthread_create(thread, attributes, start, argument);
}

int __real_sched_setaffinity(pid_t process, size_t length, const cpu_set_t *cores);
int __wrap_sched_setaffinity(pid_t process, size_t length, const cpu_set_t *cores)
{
    return fails(KIND_AFFINITY, __builtin_return_address(0)) ? -1 : __real_sched_setaffinity(process, length, cores);
}

int __real_sched_getaffinity(pid_t process, size_t length, cpu_set_t *cores);
int __wrap_sched_getaffinity(pid_t process, size_t length, cpu_set_t *cores)
{
    return fails(KIND_AFFINITY, __builtin_return_address(0)) ? -1 : __real_sched_getaffinity(process, length, cores);
}

int __real_setpriority(__priority_which_t which, id_t who, int priority);
int __wrap_setpriority(__priority_which_t which, id_t who, int priority)
{
    return fails(KIND_PRIORITY, __builtin_return_address(0)) ? -1 : __real_setpriority(which, who, priority);
}

void *__real_malloc(size_t length);
void *__wrap_malloc(size_t length)
{
    return fails(KIND_MALLOC, __builtin_return_address(0)) ? NULL : __real_malloc(length);
}

void *__real_calloc(size_t count, size_t length);
void *__wrap_calloc(size_t count, size_t length)
{
    return fails(KIND_MALLOC, __builtin_return_address(0)) ? NULL : __real_calloc(count, length);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return fails(KIND_OPENDIR, __builtin_return_address(0)) ? NULL : __real_opendir(path);
}

ssize_t __real_readlink(const char *path, char *buffer, size_t length);
ssize_t __wrap_readlink(const char *path, char *buffer, size_t length)
{
    return fails(KIND_READLINK, __builtin_return_address(0)) ? -1 : __real_readlink(path, buffer, length);
}
