/* SPDX-License-Identifier: MIT */
/* Claim: every entry of libc that takes memory waits for exactly the bytes that
 * its function uses, and then gives what libc gives.
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
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
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
typedef ssize_t rw3_fn(int, void *, size_t);
typedef ssize_t rw4_fn(int, void *, size_t, off_t);

/* One case to a line, where it fits. */
/* clang-format off */

/* Files. */
static long run_read(char *h) { int d = zeros(); hold(h); return read(d, h, 100); }
static long run___read(char *h) { int d = zeros(); hold(h); return CALL("__read", rw3_fn *, d, h, 100); }
static long run_pread(char *h) { int d = file_full(); hold(h); return pread(d, h, 100, 5); }
static long run_pread64(char *h) { int d = file_full(); hold(h); return pread64(d, h, 100, 5); }
static long run___pread64(char *h) { int d = file_full(); hold(h); return CALL("__pread64", rw4_fn *, d, h, 100, 5); }
static long run___read_chk(char *h) { int d = zeros(); hold(h); return CALL("__read_chk", chk4_fn *, d, h, 100, 200); }
static long run___pread_chk(char *h) { int d = file_full(); hold(h); return CALL("__pread_chk", chk5_fn *, d, h, 100, 5, 200); }
static long run___pread64_chk(char *h) { int d = file_full(); hold(h); return CALL("__pread64_chk", chk5_fn *, d, h, 100, 5, 200); }
static long run_write(char *h) { int d = file_full(); hold(h); return write(d, h, 100); }
static long run___write(char *h) { int d = file_full(); hold(h); return CALL("__write", rw3_fn *, d, h, 100); }
static long run_pwrite(char *h) { int d = file_full(); hold(h); return pwrite(d, h, 100, 5); }
static long run_pwrite64(char *h) { int d = file_full(); hold(h); return pwrite64(d, h, 100, 5); }
static long run___pwrite64(char *h) { int d = file_full(); hold(h); return CALL("__pwrite64", rw4_fn *, d, h, 100, 5); }

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
static long run_splice(char *h)
{
    int input = file_full(), output = pipe_full(1);
    *(off64_t *)h = 3;
    hold(h);
    return splice(input, (off64_t *)h, output, NULL, 10, 0);
}
static long run_sendfile(char *h)
{
    int other, input = file_full(), output = socket_full(&other);
    *(off_t *)h = 3;
    hold(h);
    return sendfile(output, input, (off_t *)h, 10);
}
static long run_sendfile64(char *h)
{
    int other, input = file_full(), output = socket_full(&other);
    *(off_t *)h = 3;
    hold(h);
    return sendfile64(output, input, (off64_t *)h, 10);
}
static long run_copy_file_range(char *h)
{
    int input = file_full(), output = file_full();
    *(off64_t *)h = 3;
    hold(h);
    return copy_file_range(input, (off64_t *)h, output, NULL, 10, 0);
}
static long run_getdents64(char *h) { int d = open("/", O_RDONLY | O_DIRECTORY); hold(h); return getdents64(d, h, 1000); }
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
static long run_eventfd_read(char *h) { int d = eventfd(3, 0); hold(h); return eventfd_read(d, (eventfd_t *)h); }

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
static struct mmsghdr *messages_of(char *held)
{
    static struct mmsghdr messages[2];
    messages[0].msg_hdr = (struct msghdr){.msg_iov = parts, .msg_iovlen = 1};
    messages[1].msg_hdr = *message_of(held);
    return messages;
}
static int other_end;
static long run_recv(char *h) { int d = socket_full(&other_end); hold(h); return recv(d, h, 100, 0); }
static long run___recv_chk(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__recv_chk", recv_chk_fn *, d, h, 100, 200, 0); }
static long run_recvfrom(char *h) { int d = socket_full(&other_end); hold(h); return recvfrom(d, h, 100, 0, NULL, NULL); }
static long run___recvfrom_chk(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__recvfrom_chk", recvfrom_chk_fn *, d, h, 100, 200, 0, NULL, NULL); }
static long run_recvmsg(char *h) { int d = socket_full(&other_end); hold(h); return recvmsg(d, message_of(h), 0); }
static long run_recvmmsg(char *h)
{
    int d = socket_full(&other_end);
    hold(h);
    int count = recvmmsg(d, messages_of(h), 2, MSG_DONTWAIT, NULL);
    return count * 1000 + (int)messages_of(h)[1].msg_len;
}
static long run_send(char *h) { int d = socket_full(&other_end); hold(h); return send(d, h, 100, 0); }
static long run_sendto(char *h) { int d = socket_full(&other_end); hold(h); return sendto(d, h, 100, 0, NULL, 0); }
static long run_sendmsg(char *h) { int d = socket_full(&other_end); hold(h); return sendmsg(d, message_of(h), 0); }
static long run_sendmmsg(char *h) { int d = socket_full(&other_end); hold(h); return sendmmsg(d, messages_of(h), 2, 0); }
static long run_bind(char *h)
{
    int d = socket_new();
    *(struct sockaddr_in *)h = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    hold(h);
    return bind(d, (struct sockaddr *)h, sizeof(struct sockaddr_in));
}
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
static long run_getsockname(char *h) { int d = socket_new(); hold(h); return getsockname(d, (struct sockaddr *)h, &name_bytes); }
static long run_getpeername(char *h) { int l, d = connected(&l); hold(h); return getpeername(d, (struct sockaddr *)h, &name_bytes); }
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
static long run_getsockopt(char *h) { int d = socket_new(); socklen_t n = 4; hold(h); return getsockopt(d, SOL_SOCKET, SO_TYPE, h, &n); }
static long run_setsockopt(char *h) { int d = socket_new(); hold(h); return setsockopt(d, SOL_SOCKET, SO_KEEPALIVE, h, 4); }
static long run_socketpair(char *h) { hold(h); return socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)h); }

/* Waiting. */
typedef int poll_chk_fn(struct pollfd *, nfds_t, int, size_t);
typedef int ppoll_chk_fn(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
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
static long run___ppoll_chk(char *h) { return CALL("__ppoll_chk", ppoll_chk_fn *, poll_set(h), 2, &at_once, NULL, 4096); }
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
static long run_epoll_pwait2(char *h)
{
    int d = epoll_full();
    hold(h);
    return CALL("epoll_pwait2", int (*)(int, void *, int, const struct timespec *, const sigset_t *), d, h, 5, &at_once, NULL);
}
static long run_epoll_ctl(char *h)
{
    int d = epoll_create1(0), p = pipe_full(0);
    ((struct epoll_event *)h)->events = EPOLLIN;
    hold(h);
    return epoll_ctl(d, EPOLL_CTL_ADD, p, (struct epoll_event *)h);
}
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
static long run_statfs(char *h) { hold(h); return statfs("/", (struct statfs *)h); }
static long run_statfs64(char *h) { hold(h); return statfs64("/", (struct statfs64 *)h); }
static long run_fstatfs(char *h) { int d = file_full(); hold(h); return fstatfs(d, (struct statfs *)h); }
static long run_fstatfs64(char *h) { int d = file_full(); hold(h); return fstatfs64(d, (struct statfs64 *)h); }
static long run_getrandom(char *h) { hold(h); return getrandom(h, 100, 0); }
static long run_getentropy(char *h) { hold(h); return getentropy(h, 100); }
static long run_uname(char *h) { hold(h); return uname((struct utsname *)h); }
static long run_sysinfo(char *h) { hold(h); return sysinfo((struct sysinfo *)h); }
static long run_times(char *h) { hold(h); return times((struct tms *)h) > 0; }
static long run_getrusage(char *h) { hold(h); return getrusage(RUSAGE_SELF, (struct rusage *)h); }
static long run_getrlimit(char *h) { hold(h); return getrlimit(RLIMIT_CORE, (struct rlimit *)h); }
static long run_getrlimit64(char *h) { hold(h); return getrlimit64(RLIMIT_CORE, (struct rlimit64 *)h); }
static long run_setrlimit(char *h) { hold(h); return setrlimit(RLIMIT_CORE, (struct rlimit *)h); }
static long run_setrlimit64(char *h) { hold(h); return setrlimit64(RLIMIT_CORE, (struct rlimit64 *)h); }
static long run_sched_getaffinity(char *h) { hold(h); return sched_getaffinity(0, 128, (cpu_set_t *)h); }
static long run_sched_setaffinity(char *h) { memset(h, 255, 128); hold(h); return sched_setaffinity(0, 128, (cpu_set_t *)h); }
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
static struct iovec remote_part = {spare, 50};
static long run_process_vm_readv(char *h) { hold(h); return process_vm_readv(getpid(), vector_of(h), 2, &remote_part, 1, 0); }
static long run_process_vm_writev(char *h) { hold(h); return process_vm_writev(getpid(), vector_of(h), 2, &remote_part, 1, 0); }
static int queue_full(void)
{
    struct { long type; char text[40]; } message = {1, {0}};
    int queue = msgget(IPC_PRIVATE, 0600);
    msgsnd(queue, &message, 40, 0);
    return queue;
}
static long queue_end(int queue, long result)
{
    int error = errno;
    msgctl(queue, IPC_RMID, NULL);
    errno = error;
    return result;
}
static long run_msgrcv(char *h) { int q = queue_full(); hold(h); return queue_end(q, msgrcv(q, h, 40, 1, 0)); }
static long run_msgsnd(char *h) { int q = queue_full(); *(long *)h = 1; hold(h); return queue_end(q, msgsnd(q, h, 40, 0)); }

/* Names of files, 5 bytes with their zero. */
static char *path_of(char *held) { strcpy(held, "/tmp"); hold(held); return held; }
static char *path_absent(char *held) { strcpy(held, "/no/"); hold(held); return held; }
static long run_chdir(char *h) { return chdir(path_of(h)); }
static long run_getcwd(char *h) { hold(h); return getcwd(h, 1000) != NULL; }
static long run___getcwd_chk(char *h) { hold(h); return CALL("__getcwd_chk", char *(*)(char *, size_t, size_t), h, 1000, 1000) != NULL; }
static long run_getxattr(char *h) { hold(h); return getxattr("/tmp", "user.none", h, 100); }
static long run_lgetxattr(char *h) { hold(h); return lgetxattr("/tmp", "user.none", h, 100); }
static long run_fgetxattr(char *h) { int d = file_full(); hold(h); return fgetxattr(d, "user.none", h, 100); }
static long run_getgroups(char *h) { hold(h); return getgroups(NGROUPS_MAX, (gid_t *)h); }

/* More facts, and times. */
static long run_clock_gettime(char *h) { hold(h); return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, (struct timespec *)h); }
static long run_clock_getres(char *h) { hold(h); return clock_getres(CLOCK_PROCESS_CPUTIME_ID, (struct timespec *)h); }
static long run_gettimeofday(char *h) { hold(h); return gettimeofday((struct timeval *)h, NULL); }
static long run_getitimer(char *h) { hold(h); return getitimer(ITIMER_REAL, (struct itimerval *)h); }
static long run_setitimer(char *h) { hold(h); return setitimer(ITIMER_REAL, (struct itimerval *)h, NULL); }
static long run_timerfd_gettime(char *h) { int d = timerfd_create(CLOCK_MONOTONIC, 0); hold(h); return timerfd_gettime(d, (struct itimerspec *)h); }
static long run_timerfd_settime(char *h) { int d = timerfd_create(CLOCK_MONOTONIC, 0); hold(h); return timerfd_settime(d, 0, (struct itimerspec *)h, NULL); }
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
static void ignored(int number) { (void)number; }
static long run_sigsuspend(char *h)
{
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction action = {.sa_handler = ignored};
    sigaction(SIGALRM, &action, NULL);
    sigemptyset((sigset_t *)h);
    setitimer(ITIMER_REAL, &soon, NULL);
    hold(h);
    int result = sigsuspend((sigset_t *)h);
    return result == -1 && errno == EINTR ? 1 : result;
}
static long run_sigpending(char *h) { hold(h); return sigpending((sigset_t *)h); }
static long run_sigtimedwait(char *h) { return sigtimedwait(signal_set(h), NULL, &at_once); }
static long run_sigwaitinfo(char *h) { return sigwaitinfo(signal_set(h), NULL); }
static long run_sigwait(char *h) { int number; return sigwait(signal_set(h), &number) ? -1 : number; }
static long run_prlimit(char *h) { hold(h); return prlimit(0, RLIMIT_CORE, NULL, (struct rlimit *)h); }
static long run_prlimit64(char *h) { hold(h); return prlimit64(0, RLIMIT_CORE, NULL, (struct rlimit64 *)h); }
static long run_pthread_getaffinity_np(char *h) { hold(h); return pthread_getaffinity_np(pthread_self(), 128, (cpu_set_t *)h); }
static long run_pthread_setaffinity_np(char *h) { memset(h, 255, 128); hold(h); return pthread_setaffinity_np(pthread_self(), 128, (cpu_set_t *)h); }
static long run_sched_getparam(char *h) { hold(h); return sched_getparam(0, (struct sched_param *)h); }
typedef int sched_setattr_fn(pid_t, void *, unsigned);
typedef int sched_getattr_fn(pid_t, void *, unsigned, unsigned);
static long run_sched_setattr(char *h) { *(unsigned *)h = 56; hold(h); return CALL("sched_setattr", sched_setattr_fn *, 0, h, 0); }
static long run_sched_getattr(char *h) { hold(h); return CALL("sched_getattr", sched_getattr_fn *, 0, h, 56, 0); }
static long run_sched_setparam(char *h) { hold(h); return sched_setparam(0, (struct sched_param *)h); }
static long run_sched_setscheduler(char *h) { hold(h); return sched_setscheduler(0, SCHED_OTHER, (struct sched_param *)h); }
static long run_sched_rr_get_interval(char *h) { hold(h); return sched_rr_get_interval(0, (struct timespec *)h); }
static uid_t some_ids[2];
static long run_getresuid(char *h) { hold(h); return getresuid((uid_t *)h, &some_ids[0], &some_ids[1]); }
static long run_getresgid(char *h) { hold(h); return getresgid((gid_t *)h, &some_ids[0], &some_ids[1]); }
static long run_wait3(char *h) { child_ended(); hold(h); return wait3((int *)h, 0, NULL) > 0; }
static long run_waitid(char *h) { pid_t c = child_ended(); hold(h); return waitid(P_PID, (id_t)c, (siginfo_t *)h, WEXITED); }
static long run_msgctl(char *h) { int q = queue_full(); hold(h); return queue_end(q, msgctl(q, IPC_STAT, (struct msqid_ds *)h)); }
static long run_shmctl(char *h)
{
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    hold(h);
    int result = shmctl(segment, IPC_STAT, (struct shmid_ds *)h), error = errno;
    shmctl(segment, IPC_RMID, NULL);
    errno = error;
    return result;
}
static long semaphores_use(char *h, int way)
{
    int set = semget(IPC_PRIVATE, 2, 0600);
    *(struct sembuf *)h = (struct sembuf){.sem_op = 1};
    hold(h);
    int result = way == 0 ? semop(set, (struct sembuf *)h, 1) : way == 1 ? semtimedop(set, (struct sembuf *)h, 1, &at_once) : semctl(set, 0, GETALL, h);
    int error = errno;
    semctl(set, 0, IPC_RMID);
    errno = error;
    return result;
}
static long run_semop(char *h) { return semaphores_use(h, 0); }
static long run_semtimedop(char *h) { return semaphores_use(h, 1); }
static long run_semctl(char *h) { return semaphores_use(h, 2); }
static mqd_t mail_new(void)
{
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 100};
    snprintf(name, sizeof name, "/lapwing-test-%d", getpid());
    mqd_t mail = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
    mq_unlink(name);
    mq_send(mail, "word", 4, 0);
    return mail;
}
static long run_mq_send(char *h) { mqd_t m = mail_new(); hold(h); return mq_send(m, h, 50, 0); }
static long run_mq_timedsend(char *h) { mqd_t m = mail_new(); hold(h); return mq_timedsend(m, h, 50, 0, &at_once); }
static long run_mq_receive(char *h) { mqd_t m = mail_new(); hold(h); return mq_receive(m, h, 100, NULL); }
static long run_mq_timedreceive(char *h) { mqd_t m = mail_new(); hold(h); return mq_timedreceive(m, h, 100, NULL, &at_once); }
static long run_mq_getattr(char *h) { mqd_t m = mail_new(); hold(h); return mq_getattr(m, (struct mq_attr *)h); }
static long run_mq_setattr(char *h) { mqd_t m = mail_new(); hold(h); return mq_setattr(m, (struct mq_attr *)h, NULL); }
static long run_mq_notify(char *h)
{
    mqd_t m = mail_new();
    *(struct sigevent *)h = (struct sigevent){.sigev_notify = SIGEV_NONE};
    hold(h);
    return mq_notify(m, (struct sigevent *)h);
}
static long run_timer_create(char *h)
{
    timer_t timer;
    *(struct sigevent *)h = (struct sigevent){.sigev_notify = SIGEV_NONE};
    hold(h);
    return timer_create(CLOCK_MONOTONIC, (struct sigevent *)h, &timer);
}
static long run_arc4random_buf(char *h) { hold(h); CALL("arc4random_buf", void (*)(void *, size_t), h, 100); return 1; }
static long run_mincore(char *h) { hold(h); return mincore(h, 5 * page_bytes, (unsigned char *)h); }
static long run_futimens(char *h) { int d = file_full(); hold(h); return futimens(d, (struct timespec *)h); }
static long run_utimensat(char *h) { hold(h); return utimensat(AT_FDCWD, "/no/file", (struct timespec *)h, 0); }
static long run_listxattr(char *h) { hold(h); return listxattr("/tmp", h, 100); }
static long run_llistxattr(char *h) { hold(h); return llistxattr("/tmp", h, 100); }
static long run_flistxattr(char *h) { int d = file_full(); hold(h); return flistxattr(d, h, 100); }
static long run_setxattr(char *h) { hold(h); return setxattr("/no/file", "user.x", h, 10, 0); }
static long run_lsetxattr(char *h) { hold(h); return lsetxattr("/no/file", "user.x", h, 10, 0); }
static long run_fsetxattr(char *h) { int d = file_full(); hold(h); return fsetxattr(d, "user.x", h, 10, 0); }
static long run_chmod(char *h) { return chmod(path_absent(h), 0600); }
static long run_fchmodat(char *h) { return fchmodat(AT_FDCWD, path_absent(h), 0600, 0); }
static long run_chown(char *h) { return chown(path_absent(h), 0, 0); }
static long run_lchown(char *h) { return lchown(path_absent(h), 0, 0); }
static long run_fchownat(char *h) { return fchownat(AT_FDCWD, path_absent(h), 0, 0, 0); }
static long run_chroot(char *h) { return chroot(path_absent(h)); }
static long run_inotify_add_watch(char *h) { int d = inotify_init(); return inotify_add_watch(d, path_absent(h), IN_OPEN); }
static long run_memfd_create(char *h) { strcpy(h, "name"); hold(h); return memfd_create(h, 0) >= 0; }
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
static long run_aio_read(char *h) { return aio_run("aio_read", h); }
static long run_aio_read64(char *h) { return aio_run("aio_read64", h); }
static long run_aio_write(char *h) { return aio_run("aio_write", h); }
static long run_aio_write64(char *h) { return aio_run("aio_write64", h); }
static long run___recv(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__recv", ssize_t (*)(int, void *, size_t, int), d, h, 100, 0); }
static long run___send(char *h) { int d = socket_full(&other_end); hold(h); return CALL("__send", ssize_t (*)(int, void *, size_t, int), d, h, 100, 0); }
static long run___poll(char *h) { return CALL("__poll", int (*)(struct pollfd *, nfds_t, int), poll_set(h), 2, 0); }
static long run___select(char *h) { struct timeval t = {0, 0}; int d = zeros(); return CALL("__select", int (*)(int, fd_set *, fd_set *, fd_set *, struct timeval *), d + 1, select_set(h, d), NULL, NULL, &t); }
static long run___pipe(char *h) { hold(h); return CALL("__pipe", int (*)(int *), (int *)h); }
static long run___statfs(char *h) { hold(h); return CALL("__statfs", int (*)(const char *, void *), "/", h); }
static long run_sigprocmask(char *h) { sigemptyset((sigset_t *)h); hold(h); return sigprocmask(SIG_BLOCK, (sigset_t *)h, NULL); }
static long run_pthread_sigmask(char *h) { hold(h); return pthread_sigmask(SIG_BLOCK, NULL, (sigset_t *)h); }
static long run_sigaltstack(char *h) { hold(h); return sigaltstack(NULL, (stack_t *)h); }

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
static long run_mlock(char *h) { hold(h); return mlock(h, page_bytes); }
static long run_munlock(char *h) { hold(h); return munlock(h, page_bytes); }
static long run_mlock2(char *h) { hold(h); return mlock2(h, page_bytes, 0); }

#define READS(name, length_bytes) {#name, run_##name, length_bytes, true, false}
#define WRITES(name, length_bytes) {#name, run_##name, length_bytes, false, false}
#define MEMORY(name, length_bytes) {#name, run_##name, length_bytes, false, true}

static const struct test_case cases[] = {
    WRITES(read, 100), WRITES(__read, 100), WRITES(pread, 100), WRITES(pread64, 100), WRITES(__pread64, 100),
    WRITES(__read_chk, 100), WRITES(__pread_chk, 100), WRITES(__pread64_chk, 100), READS(write, 100),
    READS(__write, 100), READS(pwrite, 100), READS(pwrite64, 100), READS(__pwrite64, 100), WRITES(readv, 100),
    WRITES(preadv, 100), WRITES(preadv64, 100), WRITES(preadv2, 100), WRITES(preadv64v2, 100), READS(writev, 100),
    READS(pwritev, 100), READS(pwritev64, 100), READS(pwritev2, 100), READS(pwritev64v2, 100), WRITES(vmsplice, 100),
    WRITES(splice, 8), WRITES(sendfile, 8), WRITES(sendfile64, 8), WRITES(copy_file_range, 8), WRITES(getdents64, 1000),
    WRITES(ioctl, 256), WRITES(fcntl, sizeof(struct flock)), WRITES(fcntl64, sizeof(struct flock)), WRITES(pipe, 8),
    WRITES(pipe2, 8), WRITES(eventfd_read, 8),
    WRITES(fread, 300), WRITES(fread_unlocked, 300), WRITES(__fread_chk, 300), WRITES(__fread_unlocked_chk, 300),
    READS(fwrite, 300), READS(fwrite_unlocked, 300),
    WRITES(recv, 100), WRITES(__recv_chk, 100), WRITES(recvfrom, 100), WRITES(__recvfrom_chk, 100), WRITES(recvmsg, 100),
    WRITES(recvmmsg, 100), READS(send, 100), READS(sendto, 100), READS(sendmsg, 100), READS(sendmmsg, 100),
    READS(bind, sizeof(struct sockaddr_in)), WRITES(getsockname, sizeof(struct sockaddr_in)),
    WRITES(getpeername, sizeof(struct sockaddr_in)), READS(connect, sizeof(struct sockaddr_in)),
    WRITES(accept, sizeof(struct sockaddr_in)), WRITES(accept4, sizeof(struct sockaddr_in)), WRITES(getsockopt, 4),
    READS(setsockopt, 4), WRITES(socketpair, 8),
    WRITES(poll, 16), WRITES(__poll_chk, 16), WRITES(ppoll, 16), WRITES(__ppoll_chk, 16), WRITES(select, 8),
    WRITES(pselect, 8), WRITES(epoll_wait, 5 * sizeof(struct epoll_event)),
    WRITES(epoll_pwait, 5 * sizeof(struct epoll_event)), WRITES(epoll_pwait2, 5 * sizeof(struct epoll_event)),
    READS(epoll_ctl, sizeof(struct epoll_event)), READS(nanosleep, 16), READS(clock_nanosleep, 16), WRITES(fstat, sizeof(struct stat)), WRITES(fstat64, sizeof(struct stat)), WRITES(__fxstat, sizeof(struct stat)),
    WRITES(__fxstat64, sizeof(struct stat)), WRITES(statfs, sizeof(struct statfs)),
    WRITES(statfs64, sizeof(struct statfs)), WRITES(fstatfs, sizeof(struct statfs)),
    WRITES(fstatfs64, sizeof(struct statfs)), WRITES(getrandom, 100), WRITES(getentropy, 100),
    WRITES(uname, sizeof(struct utsname)), WRITES(sysinfo, sizeof(struct sysinfo)), WRITES(times, sizeof(struct tms)),
    WRITES(getrusage, sizeof(struct rusage)), WRITES(getrlimit, sizeof(struct rlimit)),
    WRITES(getrlimit64, sizeof(struct rlimit)), READS(setrlimit, sizeof(struct rlimit)),
    READS(setrlimit64, sizeof(struct rlimit)), WRITES(sched_getaffinity, 128), READS(sched_setaffinity, 128),
    WRITES(wait, 4), WRITES(waitpid, 4), WRITES(wait4, 4), WRITES(process_vm_readv, 100),
    READS(process_vm_writev, 100), WRITES(msgrcv, 48), READS(msgsnd, 48), READS(chdir, 5),
    WRITES(getcwd, 1000), WRITES(__getcwd_chk, 1000),
    WRITES(clock_gettime, 16), WRITES(clock_getres, 16), WRITES(gettimeofday, 16), WRITES(getitimer, 32),
    READS(setitimer, 32), WRITES(timerfd_gettime, 32), READS(timerfd_settime, 32), READS(sigsuspend, 128),
    WRITES(sigpending, 128), READS(sigtimedwait, 128), READS(sigwaitinfo, 128), READS(sigwait, 128), WRITES(prlimit, 16),
    WRITES(prlimit64, 16), WRITES(pthread_getaffinity_np, 128), READS(pthread_setaffinity_np, 128),
    WRITES(sched_getparam, 4), READS(sched_setparam, 4), READS(sched_setattr, 56), WRITES(sched_getattr, 56), READS(sched_setscheduler, 4), WRITES(sched_rr_get_interval, 16),
    WRITES(getresuid, 4), WRITES(getresgid, 4), WRITES(wait3, 4), WRITES(waitid, sizeof(siginfo_t)),
    WRITES(msgctl, sizeof(struct msqid_ds)), WRITES(shmctl, sizeof(struct shmid_ds)), READS(semop, 6),
    READS(semtimedop, 6), WRITES(semctl, 4096), READS(mq_send, 50), READS(mq_timedsend, 50), WRITES(mq_receive, 100),
    WRITES(mq_timedreceive, 100), WRITES(mq_getattr, sizeof(struct mq_attr)), READS(mq_setattr, sizeof(struct mq_attr)),
    READS(mq_notify, sizeof(struct sigevent)), READS(timer_create, sizeof(struct sigevent)), WRITES(arc4random_buf, 100), WRITES(mincore, 6), READS(futimens, 32), READS(utimensat, 32),
    MEMORY(listxattr, 100), MEMORY(llistxattr, 100), MEMORY(flistxattr, 100), READS(chmod, 5), READS(fchmodat, 5),
    {"setxattr", run_setxattr, 10, true, true}, {"lsetxattr", run_lsetxattr, 10, true, true},
    {"fsetxattr", run_fsetxattr, 10, true, true}, READS(chown, 5), READS(lchown, 5), READS(fchownat, 5), READS(chroot, 5),
    READS(inotify_add_watch, 5), READS(memfd_create, 5), WRITES(aio_read, 100), WRITES(aio_read64, 100),
    READS(aio_write, 100), READS(aio_write64, 100), WRITES(__recv, 100), READS(__send, 100), WRITES(__poll, 16),
    WRITES(__select, 8), WRITES(__pipe, 8), WRITES(__statfs, sizeof(struct statfs)), READS(sigprocmask, 128),
    WRITES(pthread_sigmask, 128), WRITES(sigaltstack, sizeof(stack_t)), WRITES(syscall, 100), MEMORY(munlock, 4096),
    /* Here the answer may be "none", which writes nothing. */
    MEMORY(getxattr, 100), MEMORY(lgetxattr, 100), MEMORY(fgetxattr, 100), MEMORY(getgroups, NGROUPS_MAX * sizeof(gid_t)),
    MEMORY(munmap, 100), MEMORY(mremap, 4096), MEMORY(mmap, 4096), MEMORY(mmap64, 4096), MEMORY(mprotect, 4096),
    MEMORY(pkey_mprotect, 4096), MEMORY(madvise, 4096), MEMORY(mlock, 4096), MEMORY(mlock2, 4096),
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
        " killpg sigqueue pidfd_send_signal pidfd_getfd ptrace tgkill listen open open64 __open_2 __open64_2 openat "
        "openat64 __openat_2 __openat64_2 creat creat64 access shm_open "
        "kill fopen fopen64 opendir readdir readdir64 close close_range "
        "dlclose closefrom dup2 dup3 pthread_create thrd_create aio_fsync aio_fsync64 getaddrinfo_a malloc calloc "
        "posix_memalign aligned_alloc memalign "
        "valloc brk sbrk shmat free realloc reallocarray posix_spawn posix_spawnp pidfd_spawn pidfd_spawnp system "
        "popen execv execve execvp "
        "execvpe"
        " execveat fexecve execl execlp execle _Fork exit _exit _Exit quick_exit sigaction __sigaction signal "
        "bsd_signal longjmp _longjmp siglongjmp __longjmp_chk"
        " ssignal sysv_signal __sysv_signal sigset sigignore sighold sigblock sigsetmask setcontext swapcontext vfork "
        "clone dlsym setvbuf setbuf setbuffer mlockall munlockall "
        "lio_listio lio_listio64 stat stat64 lstat "
        "lstat64 fstatat fstatat64 statx __xstat __xstat64 __lxstat __lxstat64 __fxstatat __fxstatat64 readlink "
        "__readlink_chk readlinkat __readlinkat_chk unlink rename mkdir rmdir truncate truncate64 faccessat unlinkat "
        "remove renameat renameat2 link linkat symlink symlinkat mkdirat mkfifo mq_open __open __open64 glob glob64 "
        "wordexp scandir scandir64 "
        "scandirat scandirat64 ftw ftw64 nftw nftw64 statvfs statvfs64 utime utimes lutimes futimesat lchmod "
        "removexattr lremovexattr ftok mkstemp mkstemp64 mkstemps mkstemps64 mkostemp mkostemp64 mkostemps "
        "mkostemps64 euidaccess eaccess pathconf name_to_handle_at mknod mknodat __xmknod __xmknodat mkfifoat "
        "shm_unlink sem_unlink mq_unlink msgget semget shmget flock lockf lockf64 lseek lseek64 freopen freopen64 "
        "fts_open fts64_open realpath __realpath_chk canonicalize_file_name mkdtemp mktemp sem_open dlopen dlmopen ";
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
