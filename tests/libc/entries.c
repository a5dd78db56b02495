/* SPDX-License-Identifier: MIT */
/* Claim: every entry of libc that takes memory waits for exactly the bytes that
 * its function uses, and then gives what libc gives, also where the kernel would
 * wait by itself.
 *
 * Every case runs three times, each in a child of its own: on free memory; on
 * held memory with nobody waiting (it must fail, or the case proves nothing);
 * and on held memory with the entries at work (it must give the first result). */
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/types.h"
#include "preload/fake.h"

enum mode { MODE_FREE, MODE_BLIND, MODE_WAITS };

struct outcome {
    long result;
    int error;
    bool is_done;
    struct fake_notes notes;
};

struct test_case {
    const char *name;
    long (*run)(char *held);
    size_t length_bytes; /* of the wait, which starts at `held` */
    bool is_read;
    bool survives_blind; /* the kernel does not mind the rights here */
};

static enum mode mode;
static const size_t page_bytes = 4096;
static struct outcome *shared;

static void (*hold_page)(void *address, size_t length_bytes, int rights, bool is_armed);
static struct fake_notes *notes;
static long (*libc_syscall)(long number, ...); /* past the entry */

/* Last before the call under test. */
static void hold(char *held)
{
    errno = 0;
    if (mode != MODE_FREE)
        hold_page(held, page_bytes, PROT_NONE, mode == MODE_WAITS);
}

static int zeros(void)
{
    return open("/dev/zero", O_RDWR);
}

/* A file of 64 KiB of 'x'. */
static int file_full(void)
{
    char name[] = "/tmp/lapwing-test-XXXXXX";
    char block[65536];
    int descriptor = mkstemp(name);
    memset(block, 'x', sizeof(block));
    unlink(name);
    return write(descriptor, block, sizeof(block)) == (ssize_t)sizeof(block) ? descriptor : -1;
}

static FILE *stream_full(void)
{
    FILE *stream = fdopen(file_full(), "r+");
    rewind(stream);
    return stream;
}

/* One end of a pair with 100 bytes waiting. */
static int socket_full(int *other)
{
    int ends[2];
    char bytes[100] = {0};
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    *other = ends[1];
    return write(ends[1], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? ends[0] : -1;
}

static int socket_new(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int pipe_full(int end)
{
    static int ends[2];
    if (pipe(ends) || write(ends[1], "0123456789", 10) != 10)
        return -1;
    return ends[end];
}

/* The odd names (fortified, aliases) have no declaration or no link-time symbol. */
#define CALL(name, type, ...) (((type)dlsym(RTLD_DEFAULT, name))(__VA_ARGS__))

typedef ssize_t chk4_fn(int, void *, size_t, size_t);
typedef ssize_t chk5_fn(int, void *, size_t, off_t, size_t);

/* One case to a line, where it fits. */
/* clang-format off */

/* Files. */
static long run_read(char *h) { int d = zeros(); hold(h); return read(d, h, 100); }
static long run_pread(char *h) { int d = file_full(); hold(h); return pread(d, h, 100, 5); }
static long run_pread64(char *h) { int d = file_full(); hold(h); return pread64(d, h, 100, 5); }
static long run___read_chk(char *h) { int d = zeros(); hold(h); return CALL("__read_chk", chk4_fn *, d, h, 100, 200); }
static long run___pread_chk(char *h) { int d = file_full(); hold(h); return CALL("__pread_chk", chk5_fn *, d, h, 100, 5, 200); }
static long run___pread64_chk(char *h) { int d = file_full(); hold(h); return CALL("__pread64_chk", chk5_fn *, d, h, 100, 5, 200); }
static long run_write(char *h) { int d = file_full(); hold(h); return write(d, h, 100); }
static long run_pwrite(char *h) { int d = file_full(); hold(h); return pwrite(d, h, 100, 5); }
static long run_pwrite64(char *h) { int d = file_full(); hold(h); return pwrite64(d, h, 100, 5); }

static struct iovec parts[2];
static char spare[64];
static struct iovec *vector_of(char *held)
{
    parts[0] = (struct iovec){spare, 10};
    parts[1] = (struct iovec){held, 100};
    return parts;
}
static long run_readv(char *h) { int d = zeros(); hold(h); return readv(d, vector_of(h), 2); }
static long run_preadv(char *h) { int d = file_full(); hold(h); return preadv(d, vector_of(h), 2, 5); }
static long run_preadv64(char *h) { int d = file_full(); hold(h); return preadv64(d, vector_of(h), 2, 5); }
static long run_preadv2(char *h) { int d = file_full(); hold(h); return preadv2(d, vector_of(h), 2, 5, 0); }
static long run_preadv64v2(char *h) { int d = file_full(); hold(h); return preadv64v2(d, vector_of(h), 2, 5, 0); }
static long run_writev(char *h) { int d = file_full(); hold(h); return writev(d, vector_of(h), 2); }
static long run_pwritev(char *h) { int d = file_full(); hold(h); return pwritev(d, vector_of(h), 2, 5); }
static long run_pwritev64(char *h) { int d = file_full(); hold(h); return pwritev64(d, vector_of(h), 2, 5); }
static long run_pwritev2(char *h) { int d = file_full(); hold(h); return pwritev2(d, vector_of(h), 2, 5, 0); }
static long run_pwritev64v2(char *h) { int d = file_full(); hold(h); return pwritev64v2(d, vector_of(h), 2, 5, 0); }
static long run_vmsplice(char *h) { int d = pipe_full(1); hold(h); return vmsplice(d, vector_of(h), 2, 0); }
static long run_ioctl(char *h) { int d = pipe_full(0); hold(h); return ioctl(d, FIONREAD, h); }
static long run_fcntl(char *h)
{
    int d = file_full();
    *(struct flock *)h = (struct flock){.l_type = F_RDLCK};
    hold(h);
    return fcntl(d, F_GETLK, h);
}
static long run_fcntl64(char *h)
{
    int d = file_full();
    *(struct flock *)h = (struct flock){.l_type = F_RDLCK};
    hold(h);
    return CALL("fcntl64", int (*)(int, int, ...), d, F_GETLK, h);
}
static long run_pipe(char *h) { hold(h); return pipe((int *)h); }
static long run_pipe2(char *h) { hold(h); return pipe2((int *)h, O_CLOEXEC); }

/* Stdio, past the stream's own buffer. */
typedef size_t fread_fn(void *, size_t, size_t, FILE *);
typedef size_t fread_chk_fn(void *, size_t, size_t, size_t, FILE *);
static FILE *stream_unbuffered(void)
{
    FILE *stream = stream_full();
    setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}
static long run_fread(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)fread(h, 10, 30, f); }
static long run_fread_unlocked(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)CALL("fread_unlocked", fread_fn *, h, 10, 30, f); }
static long run___fread_chk(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)CALL("__fread_chk", fread_chk_fn *, h, 4096, 10, 30, f); }
static long run___fread_unlocked_chk(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)CALL("__fread_unlocked_chk", fread_chk_fn *, h, 4096, 10, 30, f); }
static long run_fwrite(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)fwrite(h, 10, 30, f); }
static long run_fwrite_unlocked(char *h) { FILE *f = stream_unbuffered(); hold(h); return (long)CALL("fwrite_unlocked", fread_fn *, h, 10, 30, f); }

/* Sockets. */
typedef ssize_t recv_chk_fn(int, void *, size_t, size_t, int);
typedef ssize_t recvfrom_chk_fn(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
static struct msghdr *message_of(char *held)
{
    static struct msghdr message;
    message = (struct msghdr){.msg_iov = vector_of(held), .msg_iovlen = 2};
    return &message;
}
static int other_end;
static long run_recv(char *h) { int d = socket_full(&other_end); hold(h); return recv(d, h, 100, 0); }
static long run___recv_chk(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__recv_chk", recv_chk_fn *, d, h, 100, 200, 0); }
static long run_recvfrom(char *h) { int d = socket_full(&other_end); hold(h); return recvfrom(d, h, 100, 0, NULL, NULL); }
static long run___recvfrom_chk(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__recvfrom_chk", recvfrom_chk_fn *, d, h, 100, 200, 0, NULL, NULL); }
static long run_recvmsg(char *h) { int d = socket_full(&other_end); hold(h); return recvmsg(d, message_of(h), 0); }
static long run_send(char *h) { int d = socket_full(&other_end); hold(h); return send(d, h, 100, 0); }
static long run_sendto(char *h) { int d = socket_full(&other_end); hold(h); return sendto(d, h, 100, 0, NULL, 0); }
static long run_sendmsg(char *h) { int d = socket_full(&other_end); hold(h); return sendmsg(d, message_of(h), 0); }
static socklen_t name_bytes = sizeof(struct sockaddr_in);
static int listening(struct sockaddr_in *name)
{
    int descriptor = socket_new();
    *name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(descriptor, (struct sockaddr *)name, sizeof(*name));
    listen(descriptor, 4);
    getsockname(descriptor, (struct sockaddr *)name, &name_bytes);
    return descriptor;
}
static int connected(int *listener)
{
    struct sockaddr_in name;
    *listener = listening(&name);
    int descriptor = socket_new();
    return connect(descriptor, (struct sockaddr *)&name, sizeof(name)) ? -1 : descriptor;
}
static long run_connect(char *h)
{
    struct sockaddr_in name;
    int d = listening(&name), c = socket_new();
    memcpy(h, &name, sizeof(name));
    hold(h);
    return connect(c, (struct sockaddr *)h, sizeof(name)) + 0 * d;
}
static long run_accept(char *h) { int l; connected(&l); hold(h); return accept(l, (struct sockaddr *)h, &name_bytes); }
static long run_accept4(char *h) { int l; connected(&l); hold(h); return accept4(l, (struct sockaddr *)h, &name_bytes, SOCK_CLOEXEC); }

/* Waiting. */
typedef int poll_chk_fn(struct pollfd *, nfds_t, int, size_t);
static const struct timespec at_once = {0, 1000};
static struct pollfd *poll_set(char *held)
{
    struct pollfd *set = (struct pollfd *)held;
    set[0] = (struct pollfd){.fd = zeros(), .events = POLLIN};
    set[1] = (struct pollfd){.fd = -1};
    hold(held);
    return set;
}
static long run_poll(char *h) { return poll(poll_set(h), 2, 0); }
static long run___poll_chk(char *h) { return CALL("__poll_chk", poll_chk_fn *, poll_set(h), 2, 0, 4096); }
static long run_ppoll(char *h) { return ppoll(poll_set(h), 2, &at_once, NULL); }
static fd_set *select_set(char *held, int descriptor)
{
    FD_ZERO((fd_set *)held);
    FD_SET(descriptor, (fd_set *)held);
    hold(held);
    return (fd_set *)held;
}
static long run_select(char *h) { struct timeval t = {0, 0}; int d = zeros(); return select(d + 1, select_set(h, d), NULL, NULL, &t); }
static long run_pselect(char *h) { int d = zeros(); return pselect(d + 1, NULL, select_set(h, d), NULL, &at_once, NULL); }
static int epoll_full(void)
{
    int descriptor = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(descriptor, EPOLL_CTL_ADD, pipe_full(0), &event);
    return descriptor;
}
static long run_epoll_wait(char *h) { int d = epoll_full(); hold(h); return epoll_wait(d, (struct epoll_event *)h, 5, 0); }
static long run_epoll_pwait(char *h) { int d = epoll_full(); hold(h); return epoll_pwait(d, (struct epoll_event *)h, 5, 0, NULL); }
typedef int epoll_pwait2_fn(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
static long run_epoll_pwait2(char *h) { int d = epoll_full(); hold(h); return CALL("epoll_pwait2", epoll_pwait2_fn *, d, (struct epoll_event *)h, 5, &at_once, NULL); }
static long run_epoll_pwait2_by_number(char *h) { int d = epoll_full(); hold(h); return syscall(SYS_epoll_pwait2, d, h, 5, &at_once, NULL, 0); }
static long run_nanosleep(char *h) { *(struct timespec *)h = at_once; hold(h); return nanosleep((struct timespec *)h, NULL); }
static long run_clock_nanosleep(char *h) { *(struct timespec *)h = at_once; hold(h); return clock_nanosleep(CLOCK_MONOTONIC, 0, (struct timespec *)h, NULL); }

/* Facts. */
typedef int fxstat_fn(int, int, struct stat *);
static struct stat *stat_of(char *held) { hold(held); return (struct stat *)held; }
static long run_fstat(char *h) { return fstat(0, stat_of(h)); }
static long run_fstat64(char *h) { return fstat64(0, (struct stat64 *)stat_of(h)); }
/* The kernel's own struct stat (bits/stat.h before GLIBC 2.33): with another, libc copies. */
#ifdef __aarch64__
enum { FXSTAT_VERSION = 0 };
#else
enum { FXSTAT_VERSION = 1 };
#endif
static long run___fxstat(char *h) { return CALL("__fxstat", fxstat_fn *, FXSTAT_VERSION, 0, stat_of(h)); }
static long run___fxstat64(char *h) { return CALL("__fxstat64", fxstat_fn *, FXSTAT_VERSION, 0, stat_of(h)); }
static long run_getrandom(char *h) { hold(h); return getrandom(h, 100, 0); }
static long run_getentropy(char *h) { hold(h); return getentropy(h, 100); }
/* GLIBC 2.36 and later. */
typedef void arc4random_fn(void *, size_t);
static long run_arc4random_buf(char *h)
{
    arc4random_fn *fill = (arc4random_fn *)dlsym(RTLD_DEFAULT, "arc4random_buf");
    return fill == NULL ? run_getentropy(h) : (hold(h), fill(h, 100), 0);
}
static long run_times(char *h) { hold(h); return times((struct tms *)h) > 0; }
static long run_getrusage(char *h) { hold(h); return getrusage(RUSAGE_SELF, (struct rusage *)h); }
static pid_t child_ended(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    return child;
}
static long run_wait(char *h) { child_ended(); hold(h); return wait((int *)h) > 0; }
static long run_waitpid(char *h) { pid_t c = child_ended(); hold(h); return waitpid(c, (int *)h, 0) == c; }
static long run_wait4(char *h) { pid_t c = child_ended(); hold(h); return wait4(c, (int *)h, 0, NULL) == c; }
static long run_prctl(char *h) { hold(h); return prctl(PR_GET_NAME, h); }
static long run_prctl_by_number(char *h) { hold(h); return syscall(SYS_prctl, PR_GET_NAME, h); }
static long run_getcwd(char *h) { hold(h); return getcwd(h, 1000) != NULL; }

/* More facts, and times. */
static long run_clock_gettime(char *h) { hold(h); return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, (struct timespec *)h); }
static sigset_t *signal_set(char *held)
{
    sigset_t *set = (sigset_t *)held;
    sigemptyset(set);
    sigaddset(set, SIGUSR1);
    sigprocmask(SIG_BLOCK, set, NULL);
    raise(SIGUSR1);
    hold(held);
    return set;
}
static long run_sigwait(char *h) { int number; return sigwait(signal_set(h), &number) ? -1 : number; }
static long run_shmctl(char *h)
{
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    hold(h);
    int result = shmctl(segment, IPC_STAT, (struct shmid_ds *)h), error = errno;
    shmctl(segment, IPC_RMID, NULL);
    errno = error;
    return result;
}
static long run_timer_create(char *h)
{
    timer_t timer;
    *(struct sigevent *)h = (struct sigevent){.sigev_notify = SIGEV_NONE};
    hold(h);
    return timer_create(CLOCK_MONOTONIC, (struct sigevent *)h, &timer);
}
static struct aiocb mail_order;
typedef int aio_fn(struct aiocb *);
static long aio_run(const char *name, char *h)
{
    const struct aiocb *list[] = {&mail_order};
    mail_order = (struct aiocb){.aio_fildes = file_full(), .aio_buf = h, .aio_nbytes = 100};
    hold(h);
    if (CALL(name, aio_fn *, &mail_order) != 0)
        return -1;
    aio_suspend(list, 1, NULL);
    errno = aio_error(&mail_order);
    return aio_return(&mail_order);
}
typedef int aio_list_fn(int, struct aiocb *const *, int, struct sigevent *);
static long aio_list_run(const char *name, char *h)
{
    struct aiocb *const list[] = {NULL, &mail_order};
    mail_order = (struct aiocb){.aio_fildes = file_full(), .aio_buf = h, .aio_nbytes = 100, .aio_lio_opcode = LIO_WRITE};
    hold(h);
    if (CALL(name, aio_list_fn *, LIO_WAIT, list, 2, NULL) == 0)
        return aio_return(&mail_order);
    errno = aio_error(&mail_order);
    return -1;
}
static long run_lio_listio(char *h) { return aio_list_run("lio_listio", h); }
static long run_lio_listio64(char *h) { return aio_list_run("lio_listio64", h); }
static long run_aio_read(char *h) { return aio_run("aio_read", h); }
static long run_aio_read64(char *h) { return aio_run("aio_read64", h); }
static long run_aio_write(char *h) { return aio_run("aio_write", h); }
static long run_aio_write64(char *h) { return aio_run("aio_write64", h); }
static long run_sigprocmask(char *h) { sigemptyset((sigset_t *)h); hold(h); return sigprocmask(SIG_BLOCK, (sigset_t *)h, NULL); }
static long run_pthread_sigmask(char *h) { hold(h); return pthread_sigmask(SIG_BLOCK, NULL, (sigset_t *)h); }
static long run_sigaltstack(char *h) { hold(h); return sigaltstack(NULL, (stack_t *)h); }

/* Names of files; and what the kernel writes of them. */
static const char *name_of(char *held, const char *name) { strcpy(held, name); hold(held); return held; }
static long run_open(char *h) { return open(name_of(h, "/dev/null"), O_RDONLY) >= 0; }
static long run_openat(char *h) { return openat(AT_FDCWD, name_of(h, "/dev/null"), O_RDONLY) >= 0; }
static long run_creat(char *h) { return creat(name_of(h, "/dev/null"), 0600) >= 0; }
static long run_access(char *h) { return access(name_of(h, "/dev/null"), R_OK); }
static long run_fopen(char *h) { return fopen(name_of(h, "/dev/null"), "r") != NULL; }
static long run_opendir(char *h) { return opendir(name_of(h, "/proc/me")) != NULL ? 0 : errno; }
static long run_stat(char *h) { struct stat status; return stat(name_of(h, "/dev/null"), &status); }
static long run_stat_into(char *h) { return stat("/dev/null", stat_of(h)); }
static long run_statx_into(char *h) { hold(h); return statx(AT_FDCWD, "/dev/null", 0, STATX_SIZE, (struct statx *)h); }
static long run_readlink(char *h) { char text[64]; return readlink(name_of(h, "/proc/me"), text, sizeof text); }
static long run_readlink_into(char *h) { hold(h); return readlink("/proc/self", h, 100) > 0; }
static long run_chdir(char *h) { return chdir(name_of(h, "/proc/me")); }
static long run_unlink(char *h) { return unlink(name_of(h, "/proc/me")); }
static long run_rename(char *h) { return rename("/proc/me", name_of(h, "/proc/us")); }
static long run_symlink(char *h) { return symlink(name_of(h, "/proc/us"), "/dev/null"); }

/* By number. */
static long run_syscall(char *h) { int d = zeros(); hold(h); return syscall(SYS_read, d, h, 100); }

/* Memory. */
static long run_munmap(char *h) { hold(h); return munmap(h, 100); }
static long run_mremap(char *h) { hold(h); return mremap(h, page_bytes, 2 * page_bytes, MREMAP_MAYMOVE) != MAP_FAILED; }
static long run_mmap(char *h) { hold(h); return mmap(h, page_bytes, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == h; }
static long run_mmap64(char *h) { hold(h); return mmap64(h, page_bytes, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == h; }
static long run_mprotect(char *h) { hold(h); return mprotect(h, page_bytes, PROT_READ); }
static long run_pkey_mprotect(char *h) { hold(h); return pkey_mprotect(h, page_bytes, PROT_READ, -1); }
static long run_madvise(char *h) { hold(h); return madvise(h, page_bytes, MADV_DONTNEED); }
/* Memory of one's own is given back so since Linux 6.13; before, and where there is no such call, it fails alike. */
typedef ssize_t process_madvise_fn(int, const struct iovec *, size_t, int, unsigned);
static int own_process(void) { return (int)libc_syscall(SYS_pidfd_open, getpid(), 0); }
static long run_process_madvise(char *h) { int p = own_process(); struct iovec v = {h, page_bytes}; hold(h); return CALL("process_madvise", process_madvise_fn *, p, &v, 1, MADV_DONTNEED, 0); }
static long run_process_madvise_by_number(char *h) { int p = own_process(); struct iovec v = {h, page_bytes}; hold(h); return syscall(SYS_process_madvise, p, &v, 1L, MADV_DONTNEED, 0L); }
static long run_posix_madvise(char *h) { hold(h); return posix_madvise(h, page_bytes, POSIX_MADV_RANDOM); }
typedef int mseal_fn(void *, size_t, unsigned long);
static long run_mseal(char *h) { hold(h); return CALL("mseal", mseal_fn *, h, page_bytes, 0); }
static long run_mseal_by_number(char *h) { hold(h); return syscall(SYS_mseal, h, page_bytes, 0L); }
static long run_mlock(char *h) { hold(h); return mlock(h, page_bytes); }
static long run_munlock(char *h) { hold(h); return munlock(h, page_bytes); }
static long run_mlock2(char *h) { hold(h); return mlock2(h, page_bytes, 0); }

#define READS(name, length_bytes) {#name, run_##name, length_bytes, true, false}
#define WRITES(name, length_bytes) {#name, run_##name, length_bytes, false, false}
#define MEMORY(name, length_bytes) {#name, run_##name, length_bytes, false, true}

static const struct test_case cases[] = {
    WRITES(read, 100), WRITES(pread, 100), WRITES(pread64, 100), WRITES(__read_chk, 100), WRITES(__pread_chk, 100),
    WRITES(__pread64_chk, 100), READS(write, 100), READS(pwrite, 100), READS(pwrite64, 100), WRITES(readv, 100),
    WRITES(preadv, 100), WRITES(preadv64, 100), WRITES(preadv2, 100), WRITES(preadv64v2, 100), READS(writev, 100), READS(pwritev, 100),
    READS(pwritev64, 100), READS(pwritev2, 100), READS(pwritev64v2, 100), WRITES(vmsplice, 100), WRITES(ioctl, 256), WRITES(fcntl, sizeof(struct flock)),
    WRITES(fcntl64, sizeof(struct flock)), WRITES(pipe, 8), WRITES(pipe2, 8), WRITES(fread, 300),
    WRITES(fread_unlocked, 300), WRITES(__fread_chk, 300), WRITES(__fread_unlocked_chk, 300), READS(fwrite, 300),
    READS(fwrite_unlocked, 300), WRITES(recv, 100), WRITES(__recv_chk, 100), WRITES(recvfrom, 100),
    WRITES(__recvfrom_chk, 100), WRITES(recvmsg, 100), READS(send, 100), READS(sendto, 100), READS(sendmsg, 100),
    READS(connect, sizeof(struct sockaddr_in)), WRITES(accept, sizeof(struct sockaddr_in)),
    WRITES(accept4, sizeof(struct sockaddr_in)), WRITES(poll, 16), WRITES(__poll_chk, 16), WRITES(ppoll, 16),
    WRITES(select, 8), WRITES(pselect, 8), WRITES(epoll_wait, 5 * sizeof(struct epoll_event)),
    WRITES(epoll_pwait, 5 * sizeof(struct epoll_event)), WRITES(epoll_pwait2, 5 * sizeof(struct epoll_event)),
    {"syscall", run_epoll_pwait2_by_number, 5 * sizeof(struct epoll_event), false, false}, READS(nanosleep, 16), READS(clock_nanosleep, 16),
    WRITES(fstat, sizeof(struct stat)), WRITES(fstat64, sizeof(struct stat)), WRITES(__fxstat, sizeof(struct stat)),
    WRITES(__fxstat64, sizeof(struct stat)), WRITES(getrandom, 100), WRITES(getentropy, 100),
    WRITES(arc4random_buf, 100), WRITES(times, sizeof(struct tms)),
    WRITES(getrusage, sizeof(struct rusage)), WRITES(wait, 4), WRITES(waitpid, 4), WRITES(wait4, 4),
    WRITES(prctl, 16), {"syscall", run_prctl_by_number, 16, false, false},
    WRITES(getcwd, 1000), WRITES(clock_gettime, 16), READS(sigwait, 128),
    WRITES(shmctl, sizeof(struct shmid_ds)), READS(timer_create, sizeof(struct sigevent)), WRITES(aio_read, 100),
    WRITES(aio_read64, 100), READS(aio_write, 100), READS(aio_write64, 100), READS(lio_listio, 100),
    READS(lio_listio64, 100), READS(sigprocmask, 128),
    WRITES(pthread_sigmask, 128), WRITES(sigaltstack, sizeof(stack_t)), WRITES(syscall, 100), MEMORY(munlock, 4096),
    MEMORY(munmap, 100), MEMORY(mremap, 4096), MEMORY(mmap, 4096), MEMORY(mmap64, 4096), MEMORY(mprotect, 4096),
    READS(open, 10), READS(openat, 10), READS(creat, 10), READS(access, 10), READS(fopen, 10), READS(opendir, 9),
    READS(stat, 10), {"stat", run_stat_into, sizeof(struct stat), false, false},
    {"statx", run_statx_into, sizeof(struct statx), false, false}, READS(readlink, 9),
    {"readlink", run_readlink_into, 100, false, false}, READS(chdir, 9), READS(unlink, 9), READS(rename, 9),
    READS(symlink, 9), MEMORY(pkey_mprotect, 4096), MEMORY(madvise, 4096), MEMORY(process_madvise, 4096),
    {"syscall", run_process_madvise_by_number, 4096, false, true}, MEMORY(mseal, 4096),
    {"syscall", run_mseal_by_number, 4096, false, true}, MEMORY(posix_madvise, 4096), MEMORY(mlock, 4096), MEMORY(mlock2, 4096),
};

/* clang-format on */

static char *held_page(void)
{
    return mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The strings: the test's own strlen, in the entry, is a touch that nobody here
 * can wait for, so the handler of this test does what the protect layer would. */
static void touched(int number, siginfo_t *information, void *context)
{
    (void)number, (void)context;
    if (mode != MODE_WAITS)
        _exit(1);
    libc_syscall(SYS_mprotect, (uintptr_t)information->si_addr & ~(page_bytes - 1), page_bytes, PROT_READ | PROT_WRITE);
}

static void child_run(const struct test_case *test, char *held)
{
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    close(0);
    open("/dev/null", O_RDWR);
    shared->result = test->run(held);
    shared->error = shared->result == -1 ? errno : 0;
    shared->notes = *notes;
    shared->is_done = true;
    _exit(0);
}

static struct outcome outcome_of(const struct test_case *test, enum mode wanted, char *held)
{
    mode = wanted;
    memset(shared, 0, sizeof(*shared));
    pid_t child = fork();
    if (child == 0)
        child_run(test, held);
    waitpid(child, NULL, 0);
    return *shared;
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->is_done && b->is_done && a->result == b->result && a->error == b->error;
}

static const char *wrong_with(const struct test_case *test, char *held)
{
    struct outcome stock = outcome_of(test, MODE_FREE, held);
    struct outcome blind = outcome_of(test, MODE_BLIND, held);
    struct outcome waits = outcome_of(test, MODE_WAITS, held);
    if (!stock.is_done)
        return "the case does not work without a hold";
    if (!test->survives_blind && is_same(&stock, &blind))
        return "the case succeeds on held memory by itself";
    if (!is_same(&stock, &waits))
        return "another result than libc's";
    if (waits.notes.range_waits == 0 || waits.notes.low != (uintptr_t)held)
        return "did not wait for the memory";
    if (waits.notes.high != waits.notes.low + test->length_bytes)
        return "waited for another length";
    return waits.notes.is_read == test->is_read ? NULL : "reads taken for writes, or the reverse";
}

static bool is_tried(const char *name)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (strcmp(cases[i].name, name) == 0)
            return true;
    return false;
}

/* Rows that life.c holds. */
static bool is_tried_elsewhere(const char *name)
{
    static const char *const elsewhere =
        " killpg listen open64 __open_2 __open64_2 openat64 __openat_2 __openat64_2 creat64 "
        "shm_open kill fopen fopen64 opendir readdir readdir64 close close_range dlclose closefrom "
        "dup2 dup3 pthread_create thrd_create malloc calloc posix_memalign aligned_alloc memalign valloc brk "
        "sbrk shmat free realloc reallocarray posix_spawn posix_spawnp system popen execv execve execvp "
        "execvpe fexecve execl execlp execle exit _exit _Exit quick_exit sigaction signal longjmp _longjmp "
        "siglongjmp __longjmp_chk __sysv_signal sysv_signal bsd_signal ssignal sigset sigignore sighold "
        "fork vfork clone dlsym setvbuf setbuf setbuffer mlockall setrlimit setrlimit64 prlimit prlimit64 "
        "munlockall stat stat64 lstat lstat64 fstatat fstatat64 statx __xstat __xstat64 __lxstat __lxstat64 "
        "__fxstatat __fxstatat64 readlink unlink rename mkdir rmdir truncate truncate64 faccessat remove link "
        "symlink mkfifo glob glob64 scandir scandir64 shm_unlink sem_unlink shmget flock lockf lockf64 lseek "
        "lseek64 freopen freopen64 realpath __realpath_chk sem_open dlopen chdir chmod pthread_exit thrd_exit ";
    char word[64];
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(elsewhere, word) != NULL;
}

static int rows_without_test(const char *exports_path)
{
    char name[64];
    int count = 0;
    FILE *exports = fopen(exports_path, "r");
    while (exports && fscanf(exports, "%63s", name) == 1)
        if (!is_tried(name) && !is_tried_elsewhere(name))
            count++, printf("no test for %s\n", name);
    return exports ? count : 1;
}

int main(int argc, char **argv)
{
    hold_page = (void (*)(void *, size_t, int, bool))dlsym(RTLD_DEFAULT, "fake_hold");
    notes = dlsym(RTLD_DEFAULT, "fake_notes");
    libc_syscall = (long (*)(long, ...))dlsym(dlopen("libc.so.6", RTLD_NOW), "syscall");
    shared = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failures = argc == 2 && hold_page && notes ? rows_without_test(argv[1]) : 1;
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void (*let_calls_wait)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "fake_let_calls_wait");
    if (let_calls_wait)
        let_calls_wait();
    for (size_t i = 0; hold_page && notes && i < sizeof(cases) / sizeof(*cases); i++) {
        if (dlsym(libc, cases[i].name) == NULL) {
            printf("%s: this libc lacks it\n", cases[i].name);
            continue;
        }
        char *held = held_page();
        const char *wrong = wrong_with(&cases[i], held);
        munmap(held, page_bytes);
        failures += wrong != NULL;
        if (wrong)
            printf("%s: %s\n", cases[i].name, wrong);
    }
    printf("%zu entries, %d failures\n", sizeof(cases) / sizeof(*cases), failures);
    return failures != 0;
}
