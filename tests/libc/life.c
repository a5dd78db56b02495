/* SPDX-License-Identifier: MIT */
/* Claims about the entries that concern the process as a whole, the heap, signals
 * and the loader. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "preload/fake.h"

/* What longjmp() is with _FORTIFY_SOURCE; no header declares it. */
void __longjmp_chk(struct __jmp_buf_tag *place, int value) __attribute__((noreturn));

static void (*hold)(void *address, size_t length_bytes, int rights, bool is_armed);
static struct fake_notes *notes;
static void (*drain)(bool is_on);
static char *page;
static char *const no_words[] = {"true", NULL};

static void arm(void)
{
    hold(page, 4096, PROT_NONE, true);
}

static void *thread_end(void *argument)
{
    return argument;
}

static bool a_thread_is_told(void)
{
    pthread_t thread;
    int before = notes->several_threads;
    return pthread_create(&thread, NULL, thread_end, NULL) == 0 && pthread_join(thread, NULL) == 0 &&
           notes->several_threads == before + 1;
}

static void *thread_pause(void *argument)
{
    pause();
    return argument;
}

/* One that a library of a transport's name has begun before main. */
static bool a_transports_thread_is_not_told(void)
{
    extern int transport_error;
    return transport_error == 0 && notes->several_threads == 0;
}

/* Begun past our entries; the transport's thread has ended, and must not stand for this one. */
static bool an_unseen_thread_is_found(void)
{
    pthread_t thread;
    void (*look)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "fake_look_at_threads");
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(dlopen("libc.so.6", RTLD_NOW),
                                                                                       "pthread_create");
    look();
    bool is_alone = notes->several_threads == 0;
    int error = create(&thread, NULL, thread_pause, NULL);
    look();
    return is_alone && error == 0 && notes->several_threads == 1;
}

static int thread_end_c11(void *argument)
{
    return argument != NULL;
}

static bool a_c11_thread_is_told(void)
{
    thrd_t thread;
    int result = 7;
    int before = notes->several_threads;
    return thrd_create(&thread, thread_end_c11, &thread) == thrd_success &&
           thrd_join(thread, &result) == thrd_success && result == 1 && notes->several_threads == before + 1;
}

static void notified(union sigval unused)
{
    (void)unused;
}

/* Those that libc starts inside other functions; nothing is armed. */
static bool threads_of_libc_are_told(void)
{
    timer_t timer;
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    struct sigevent thread = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
    struct aiocb order = {.aio_fildes = -1};
    int before = notes->several_threads;
    timer_create(CLOCK_MONOTONIC, &none, &timer);
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    if (notes->several_threads != before)
        return false;
    timer_create(CLOCK_MONOTONIC, &thread, &timer);
    aio_read(&order);
    aio_write(&order);
    syscall(SYS_clone3, NULL, 0);
    return notes->several_threads == before + 4;
}

static bool is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) != -1;
}

static const char no_file[] = "/no/file";
static char room[8192];

/* Has the call that gave this argument waited for all ops? Arms for the next one. */
static bool waits(const char *call, bool is_right)
{
    bool is_good = is_right && notes->all_waits == 1;
    if (!is_good)
        printf("%s\n", call);
    arm();
    return is_good;
}

/* Each looks at a file, or changes one, that a peer may have made. */
static bool looks_wait_for_all(void)
{
    struct stat status;
    struct statx facts;
    arm();
    bool is_good = waits("stat", stat(no_file, &status) == -1);
    is_good = is_good && waits("lstat", lstat(no_file, &status) == -1);
    is_good = is_good && waits("fstatat", fstatat(AT_FDCWD, no_file, &status, 0) == -1);
    is_good = is_good && waits("statx", statx(AT_FDCWD, no_file, 0, STATX_ALL, &facts) == -1);
    is_good = is_good && waits("readlink", readlink(no_file, room, sizeof(room)) == -1);
    is_good = is_good && waits("unlink", unlink(no_file) == -1);
    is_good = is_good && waits("rename", rename(no_file, no_file) == -1);
    is_good = is_good && waits("mkdir", mkdir(no_file, 0700) == -1);
    is_good = is_good && waits("rmdir", rmdir(no_file) == -1);
    is_good = is_good && waits("truncate", truncate(no_file, 0) == -1);
    is_good = is_good && waits("faccessat", faccessat(AT_FDCWD, no_file, R_OK, 0) == -1);
    is_good = is_good && waits("link", link(no_file, no_file) == -1);
    is_good = is_good && waits("symlink", symlink(no_file, no_file) == -1);
    is_good = is_good && waits("mkfifo", mkfifo(no_file, 0600) == -1);
    is_good = is_good && waits("remove", remove(no_file) == -1);
    return is_good && waits("mlockall", mlockall(0) == -1);
}

/* What is under way takes addresses, too. */
static bool limits_wait_for_all(void)
{
    struct rlimit limit;
    struct rlimit64 limit64;
    getrlimit(RLIMIT_AS, &limit);
    getrlimit64(RLIMIT_AS, &limit64);
    arm();
    bool is_good = waits("setrlimit", setrlimit(RLIMIT_AS, &limit) == 0);
    is_good = is_good && waits("setrlimit64", setrlimit64(RLIMIT_AS, &limit64) == 0);
    is_good = is_good && waits("prlimit", prlimit(0, RLIMIT_AS, &limit, NULL) == 0);
    is_good = is_good && waits("prlimit64", prlimit64(0, RLIMIT_AS, &limit64, NULL) == 0);
    is_good = is_good && waits("SYS_prlimit64", syscall(SYS_prlimit64, 0, RLIMIT_AS, &limit, NULL) == 0);
    is_good = is_good && prlimit(0, RLIMIT_AS, NULL, &limit) == 0 && notes->all_waits == 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    return is_good && setrlimit(RLIMIT_NOFILE, &limit) == 0 && notes->all_waits == 0;
}

/* Under a filter Lapwing might not be able to give back what is held. None is set here: the kernel finds no program.
 * Whoever names none only asks what the kernel knows. */
static bool filters_wait_for_all(void)
{
    void *program = (void *)1;
    bool is_good = waits("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == -1);
    is_good = is_good && waits("SYS_prctl", syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == -1);
    is_good = is_good && waits("SYS_seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == -1);
    is_good = is_good && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && notes->all_waits == 0;
    return is_good && prctl(PR_GET_SECCOMP) == 0 && notes->all_waits == 0;
}

/* None is forbidden here: the kernel knows no such value. */
static bool forbidding_peers_waits_for_all(void)
{
    bool is_good = waits("prctl", prctl(PR_SET_DUMPABLE, 9, 0, 0, 0) == -1);
    is_good = is_good && waits("SYS_prctl", syscall(SYS_prctl, PR_SET_DUMPABLE, 9, 0, 0, 0) == -1);
    return is_good && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 && notes->all_waits == 0;
}

/* More of them, called by name with integers and pointers: all go in registers. */
static const struct {
    const char *name;
    const void *words[5];
} lookers[] = {
    {"glob", {no_file, NULL, NULL, room}},
    {"glob64", {no_file, NULL, NULL, room}},
    {"scandir", {no_file, room}},
    {"scandir64", {no_file, room}},
    {"chdir", {no_file}},
    {"chmod", {no_file}},
    {"shm_unlink", {no_file + 3}},
    {"sem_unlink", {no_file + 3}},
    {"sem_open", {no_file + 3}},
    {"shmget", {no_file}},
    {"realpath", {no_file, room}},
    {"__realpath_chk", {no_file, room, room}},
    {"dlopen", {no_file, (void *)RTLD_NOW}},
    /* Not by name. */
    {"connect", {NULL, room}},
    {"flock", {NULL}},
    {"lockf", {NULL}},
    {"lockf64", {NULL}},
    {"shmctl", {NULL}},
};

static bool lookers_wait_for_all(void)
{
    typedef long looker_fn(const void *, const void *, const void *, const void *, const void *);
    for (size_t i = 0; i < sizeof(lookers) / sizeof(*lookers); i++) {
        const void *const *words = lookers[i].words;
        looker_fn *look_at = (looker_fn *)dlsym(RTLD_DEFAULT, lookers[i].name);
        arm();
        look_at(words[0], words[1], words[2], words[3], words[4]);
        if (!waits(lookers[i].name, true))
            return false;
        dlerror();
    }
    return true;
}

/* Whose token is it that lies in a pipe with a name? */
static bool named_pipes_wait_for_all(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/lapwing-life-%d", getpid());
    bool is_good = mkfifo(path, 0600) == 0;
    int pipe = open(path, O_RDWR);
    is_good = unlink(path) == 0 && is_good && write(pipe, "t", 1) == 1;
    arm();
    return is_good && waits("read", read(pipe, room, 1) == 1) && close(pipe) == 0;
}

/* What a peer wrote shows in a file that is open already; in a pipe, a reader waits for it. */
static bool open_files_wait_for_all(void)
{
    int ends[2];
    FILE *stream = tmpfile();
    int file = fileno(stream);
    bool is_good = pipe(ends) == 0 && write(ends[1], "word", 4) == 4;
    arm();
    is_good = is_good && read(ends[0], room, 1) == 1 && notes->all_waits == 0;
    is_good = is_good && lseek(file, 0, SEEK_SET) == 0 && fcntl(file, F_GETFD) >= 0 && notes->all_waits == 0;
    struct stat status;
    struct flock lock = {.l_type = F_WRLCK};
    is_good = is_good && waits("read", read(file, room, 1) == 0);
    is_good = is_good && waits("pread", pread(file, room, 1, 0) == 0);
    is_good = is_good && waits("fstat", fstat(file, &status) == 0);
    is_good = is_good && waits("lseek", lseek(file, 0, SEEK_END) == 0);
    is_good = is_good && waits("fcntl", fcntl(file, F_SETLK, &lock) == 0);
    lock.l_type = F_UNLCK;
    is_good = is_good && waits("fcntl", fcntl(file, F_SETLKW, &lock) == 0);
    is_good = is_good && waits("fcntl", fcntl(file, F_OFD_SETLKW, &lock) == 0);
    return is_good && waits("fread", fread(room, 1, 1, stream) == 0);
}

/* A receive that has returned promises that what its sender did before is visible. */
static bool openings_wait_for_all(void)
{
    arm();
    return waits("open", open("/dev/null", O_RDONLY) >= 0) && waits("fopen", fopen("/dev/null", "r") != NULL) &&
           waits("access", access("/dev/null", R_OK) == 0) && waits("kill", kill(getpid(), 0) == 0);
}

/* Some are younger than the libc that this may be compiled with. */
static bool waits_for_all(const char *name, long a, long b, long c)
{
    long (*function)(long, long, long, long) = (long (*)(long, long, long, long))dlsym(RTLD_DEFAULT, name);
    arm();
    function(a, b, c, 0);
    return notes->all_waits == 1;
}

/* And so does who reaches into another process. */
static bool reaching_a_peer_waits_for_all(void)
{
    int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int waits = waits_for_all("killpg", getpgrp(), 0, 0) + waits_for_all("syscall", SYS_kill, getpid(), 0) +
                waits_for_all("syscall", SYS_pidfd_send_signal, own, 0) +
                waits_for_all("syscall", SYS_pidfd_getfd, own, 0);
    return waits == 4 && !waits_for_all("syscall", SYS_tgkill, getpid(), getpid());
}

static volatile bool is_open_inside;

static void handler_look(int number)
{
    sigset_t seen;
    (void)number;
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    is_open_inside = sigismember(&seen, SIGUSR1) == 1 && sigismember(&seen, SIGSEGV) == 0;
}

static bool handlers_leave_touches_open(void)
{
    struct sigaction action = {.sa_handler = handler_look};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    return is_open_inside;
}

static bool mask_is_shown_as_set(void)
{
    struct sigaction shown;
    struct sigaction action = {.sa_handler = handler_look};
    struct sigaction full = action;
    sigfillset(&full.sa_mask);
    sigaction(SIGUSR2, &full, NULL);
    bool is_good = sigaction(SIGUSR2, NULL, &shown) == 0 && sigismember(&shown.sa_mask, SIGSEGV) == 1;
    sigaction(SIGUSR2, &action, &shown);
    is_good = is_good && sigismember(&shown.sa_mask, SIGSEGV) == 1;
    sigaction(SIGUSR2, NULL, &shown);
    is_good = is_good && sigismember(&shown.sa_mask, SIGSEGV) == 0;
    sigaction(SIGUSR2, &full, NULL);
    signal(SIGUSR2, SIG_DFL);
    sigaction(SIGUSR2, NULL, &shown);
    return is_good && sigismember(&shown.sa_mask, SIGSEGV) == 0;
}

static bool own_descriptors_stay_open(void)
{
    int (*own_descriptor)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "fake_own");
    int own = own_descriptor(open("/dev/null", O_RDONLY));
    int other = dup2(0, own - 1);
    bool is_refused = close(own) == -1 && errno == EBADF && dup2(0, own) == -1 && dup3(0, own, 0) == -1;
    bool is_ranged = close_range((unsigned)own - 1, (unsigned)own + 1, 0) == 0 && is_open(own) && !is_open(other);
    is_refused = is_refused && close_range((unsigned)own, (unsigned)own - 1, 0) == -1 && errno == EINVAL;
    other = dup2(0, own + 1);
    closefrom(own - 1);
    return is_refused && is_ranged && is_open(own) && !is_open(other) && close(dup(0)) == 0;
}

static int child_status(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static bool fork_waits_and_tells_the_child(void)
{
    arm();
    pid_t child = fork();
    if (child == 0)
        _exit(notes->forked_count == 1 && notes->forks_ended == 0 ? 7 : 8);
    bool is_told = notes->all_waits == 1 && notes->forked_count == 0;
    /* Once before all handlers, and once in the last. */
    return is_told && notes->forks_begun == 2 && notes->forks_ended == 2 && child_status(child) == 7;
}

static bool vfork_waits_and_returns_twice(void)
{
    int local = 5;
    arm();
    pid_t child = vfork();
    if (child == 0)
        _exit(local == 5 ? 7 : 8);
    return notes->all_waits == 1 && local == 5 && child_status(child) == 7;
}

static int clone_end(void *argument)
{
    return *(int *)argument;
}

static bool clone_waits_unless_memory_is_shared(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    int seven = 7;
    arm();
    pid_t child = clone(clone_end, stack + sizeof(stack), SIGCHLD, &seven);
    if (notes->all_waits != 1 || child_status(child) != 7)
        return false;
    arm();
    child = clone(clone_end, stack + sizeof(stack), CLONE_VM | SIGCHLD, &seven);
    return notes->all_waits == 0 && notes->several_threads == 1 && child_status(child) == 7;
}

/* What the kernel or libc will use later at any time. */
static bool given_buffers_are_waited_for(void)
{
    stack_t stack = {.ss_sp = page, .ss_size = 4096};
    FILE *stream = tmpfile();
    int waits = 0;
    arm();
    sigaltstack(&stack, NULL);
    waits += notes->range_waits;
    arm();
    setvbuf(stream, page, _IOFBF, 4096);
    waits += notes->range_waits;
    arm();
    setbuffer(stream, page, 4096);
    waits += notes->range_waits;
    arm();
    setbuf(stream, page);
    return waits == 3 && notes->range_waits == 1;
}

/* What it unmaps, nobody knows but the dynamic linker. */
static bool unloading_waits_for_all(void)
{
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    arm();
    return library && dlclose(library) == 0 && notes->all_waits == 1;
}

static bool unknown_system_calls_wait_for_all(void)
{
    arm();
    syscall(SYS_io_setup, 0, NULL);
    return notes->all_waits == 1 && notes->range_waits == 0;
}

static bool harmless_system_calls_do_not_wait(void)
{
    static int word;
    arm();
    bool is_right = syscall(SYS_getpid) == getpid() && syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0;
    is_right = is_right && notes->all_waits == 0 && notes->range_waits == 0;
    syscall(SYS_futex, page, FUTEX_WAKE, 1, NULL, NULL, 0);
    return is_right && notes->all_waits == 0 && notes->range_waits == 1;
}

static bool a_watched_memory_is_told(void)
{
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    close(descriptor);
    return notes->watcher_count == 1;
}

static int changes_by_mmap(int rights, int flags, int descriptor)
{
    int before = notes->change_count;
    void *memory = mmap(NULL, 4096, rights, flags, descriptor, 0);
    int changes = memory == MAP_FAILED ? -1 : notes->change_count - before;
    munmap(memory, 4096);
    return changes;
}

static bool a_special_mapping_is_told(void)
{
    const int plain = MAP_PRIVATE | MAP_ANONYMOUS;
    int file = memfd_create("file", 0);
    bool is_right = ftruncate(file, 4096) == 0 && changes_by_mmap(PROT_READ | PROT_WRITE, plain, -1) == 0 &&
                    changes_by_mmap(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1) == 1 &&
                    changes_by_mmap(PROT_READ | PROT_WRITE, MAP_PRIVATE, file) == 1 &&
                    changes_by_mmap(PROT_READ | PROT_WRITE | PROT_EXEC, plain, -1) == 1;
    close(file);
    return is_right;
}

static bool a_changed_mapping_is_told(void)
{
    int before = notes->change_count;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, -1);
    mremap(page, 4096, 4096, 0);
    (void)shmat(-1, NULL, 0);
    syscall(SYS_mprotect, page, 4096L, (long)(PROT_READ | PROT_WRITE));
    syscall(SYS_getpid);
    return notes->change_count == before + 5;
}

static bool draining_waits_before_every_entry(void)
{
    int waits = 0;
    int number;
    drain(true);
    arm();
    ioctl(0, FIONREAD, &number);
    waits += notes->all_waits;
    arm();
    syscall(SYS_getpid);
    waits += notes->all_waits;
    drain(false);
    arm();
    ioctl(0, FIONREAD, &number);
    return waits == 2 && notes->all_waits == 0;
}

/* The child borrows this memory: its end is not the end of this process. */
static bool vfork_child_ends_alone(void)
{
    static int exits;
    notes->exit_word = &exits;
    pid_t child = vfork();
    if (child == 0)
        _exit(7);
    bool is_alone = child_status(child) == 7 && exits == 0;
    notes->exit_word = NULL;
    return is_alone;
}

/* What the child does to end, and how often the exit hook ran. */
static bool exit_is_told_once(void (*end)(int))
{
    int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        notes->exit_word = count;
        end(7);
    }
    return child_status(child) == 7 && *count == 1;
}

static bool exits_are_told_once(void)
{
    return exit_is_told_once(exit) && exit_is_told_once(_exit) && exit_is_told_once(_Exit) &&
           exit_is_told_once(quick_exit);
}

static bool jump_arrives(void (*jump)(struct __jmp_buf_tag *, int))
{
    jmp_buf place;
    int value = setjmp(place);
    if (value == 0)
        jump(place, 4);
    return value == 4;
}

static bool jumps_arrive(void)
{
    return jump_arrives(longjmp) && jump_arrives(_longjmp) && jump_arrives(siglongjmp) && jump_arrives(__longjmp_chk);
}

static bool jumps_are_told(void)
{
    notes->left_count = 0;
    return jumps_arrive() && notes->left_count == 4;
}

static bool spawns_wait(void)
{
    pid_t child;
    arm();
    bool is_good = posix_spawnp(&child, "true", NULL, NULL, no_words, environ) == 0 && notes->all_waits == 1;
    is_good = is_good && child_status(child) == 0;
    arm();
    is_good = is_good && posix_spawn(&child, "/bin/true", NULL, NULL, no_words, environ) == 0;
    is_good = is_good && notes->all_waits == 1 && child_status(child) == 0;
    arm();
    is_good = is_good && system("exit 3") == 3 << 8 && notes->all_waits == 1;
    arm();
    FILE *stream = popen("echo word", "r");
    char word[16] = "";
    is_good = is_good && stream && fgets(word, sizeof(word), stream) && strcmp(word, "word\n") == 0;
    return is_good && pclose(stream) == 0 && notes->all_waits == 1;
}

/* One way to execute another program: the child arms, executes, and the test's
 * shell command tells by its exit code which words arrived. */
static void execute(int way)
{
    char *const words[] = {"sh", "-c", "exit $V$0", "1", NULL};
    char *const environment[] = {"V=3", "PATH=/bin", NULL};
    putenv("V=3");
    if (way == 0)
        execl("/bin/sh", "sh", "-c", "exit $V$0", "1", (char *)NULL);
    if (way == 1)
        execlp("sh", "sh", "-c", "exit $V$0", "1", (char *)NULL);
    if (way == 2)
        execle("/bin/sh", "sh", "-c", "exit $V$0", "1", (char *)NULL, environment);
    if (way == 3)
        execv("/bin/sh", words);
    if (way == 4)
        execvp("sh", words);
    if (way == 5)
        execve("/bin/sh", words, environment);
    if (way == 6)
        execvpe("sh", words, environment);
}

static bool execs_keep_their_arguments(void)
{
    for (int way = 0; way < 7; way++) {
        pid_t child = fork();
        if (child == 0)
            execute(way);
        if (child_status(child) != 31)
            return false;
    }
    return true;
}

static bool failing_execs_wait(void)
{
    int (*const execlist[])(const char *, const char *, ...) = {execl, execlp,
                                                                (int (*)(const char *, const char *, ...))execle};
    for (int i = 0; i < 3; i++) {
        arm();
        if (execlist[i]("/no/program", "word", (char *)NULL, environ) != -1 || errno != ENOENT || notes->all_waits != 1)
            return false;
    }
    arm();
    if (execve("/no/program", no_words, environ) != -1 || errno != ENOENT || notes->all_waits != 1)
        return false;
    arm();
    return execvp("/no/program", no_words) == -1 && errno == ENOENT && notes->all_waits == 1;
}

static void block_hold(char *block)
{
    hold((void *)(((uintptr_t)block + 8191) & ~4095UL), 4096, PROT_READ | PROT_WRITE, true);
}

/* Two blocks: large ones that libc unmaps, small ones that it keeps. */
static bool free_waits_for_its_block(size_t length_bytes)
{
    char *block = malloc(length_bytes);
    uintptr_t low = (uintptr_t)block;
    uintptr_t high = low + malloc_usable_size(block);
    block_hold(block);
    errno = 0;
    free(block);
    return errno == 0 && notes->range_waits == 1 && notes->low == low && notes->high == high && !notes->is_read;
}

static bool realloc_waits_and_keeps_content(void)
{
    char *block = malloc(100000);
    memset(block, 5, 100000);
    block_hold(block);
    char *moved = realloc(block, 3000000);
    if (notes->range_waits != 1 || moved[99999] != 5)
        return false;
    block_hold(moved);
    moved = reallocarray(moved, 1000, 4000);
    return notes->range_waits == 1 && moved[99999] == 5;
}

static bool heap_waits(void)
{
    return free_waits_for_its_block(100000) && free_waits_for_its_block(4000000) && realloc_waits_and_keeps_content();
}

/* As libc lays out a block that nobody asked to align: behind its header, and no longer than it must be (less than the
 * smallest chunk more, 32 bytes, or up to the end of the last page of a mapping of its own). */
static bool is_plain(void *block, size_t length_bytes)
{
    enum { IS_MAPPED = 2, HEADER_BYTES = 16, LEAST_CHUNK_BYTES = 32 };
    bool is_mapped = block && ((size_t *)block)[-1] & IS_MAPPED;
    size_t more_bytes = malloc_usable_size(block) - length_bytes;
    bool is_good = block && more_bytes < (is_mapped ? 4096 : LEAST_CHUNK_BYTES);
    is_good = is_good && (!is_mapped || (uintptr_t)block % 4096 == HEADER_BYTES);
    free(block);
    return is_good;
}

static bool blocks_are_laid_out_by_libc(void)
{
    for (size_t length = 1000; length < 4000000; length = length * 3 / 2 + 1)
        if (!is_plain(malloc(length), length) || !is_plain(calloc(1, length), length) ||
            !is_plain(realloc(malloc(100), length), length) ||
            !is_plain(reallocarray(malloc(length / 2), 1, length), length))
            return false;
    return true;
}

/* The address where the mapping ends that an address lies in. */
static unsigned long mapping_end(const void *address)
{
    unsigned long low;
    unsigned long high = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fscanf(maps, "%lx-%lx%*[^\n]", &low, &high) == 2 && high <= (unsigned long)address)
        ;
    fclose(maps);
    return high;
}

/* A hold takes one mapping; NumPy asks for huge pages from an array's second page on. */
static bool huge_pages_leave_one_mapping(void)
{
    size_t length = 8 << 20;
    char *block = malloc(length);
    char *second_page = (char *)(((uintptr_t)block & ~4095UL) + 4096);
    bool is_advised = madvise(second_page, block + length - second_page, MADV_HUGEPAGE) == 0 || errno == EINVAL;
    bool is_whole = mapping_end(block) >= (unsigned long)block + length;
    free(block);
    return is_advised && is_whole;
}

/* Also where the heap gives memory that has been used before. */
static bool calloc_is_zero(void)
{
    for (size_t length = 1000; length < 400000; length *= 2) {
        char *used = malloc(length);
        char *guard = malloc(100);
        memset(used, 7, length);
        free(used);
        char *zero = calloc(1, length);
        for (size_t i = 0; i < length; i++)
            if (zero[i])
                return false;
        free(zero);
        free(guard);
    }
    volatile size_t half = SIZE_MAX / 2; /* hidden from the compiler's own warning */
    return calloc(half, 4) == NULL && errno == ENOMEM;
}

/* No machine has so many addresses. */
static const volatile size_t too_many_bytes = (size_t)1 << 60;

/* A hold takes as many addresses again, which its end gives back. Arms for the next call. */
static bool waits_for_memory(const char *call, bool is_refused)
{
    bool is_good = is_refused && notes->all_waits + notes->range_waits == 1;
    if (!is_good)
        printf("%s\n", call);
    arm();
    return is_good;
}

static bool without_memory_ops_are_waited_for(void)
{
    void *block = NULL;
    const size_t many = too_many_bytes;
    arm();
    bool is_good = waits_for_memory("malloc", malloc(many) == NULL);
    is_good = is_good && waits_for_memory("calloc", calloc(many / 8, 8) == NULL);
    is_good = is_good && waits_for_memory("realloc", realloc(NULL, many) == NULL);
    is_good = is_good && waits_for_memory("posix_memalign", posix_memalign(&block, 64, many) == ENOMEM);
    is_good = is_good && waits_for_memory("aligned_alloc", aligned_alloc(64, many) == NULL);
    is_good = is_good && waits_for_memory("memalign", memalign(64, many) == NULL);
    is_good = is_good && waits_for_memory("valloc", valloc(many) == NULL);
    void *mapped = mmap(NULL, many, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is_good = is_good && waits_for_memory("mmap", mapped == MAP_FAILED);
    is_good = is_good && waits_for_memory("sbrk", sbrk((intptr_t)many) == (void *)-1);
    is_good = is_good && waits_for_memory("brk", brk((char *)sbrk(0) + many) == -1);
    is_good = is_good && waits_for_memory("both", malloc(15 * many) == NULL && realloc(NULL, 15 * many) == NULL);
    free(malloc(100000));
    is_good = is_good && notes->all_waits == 0;
    hold(page, 4096, PROT_READ | PROT_WRITE, false);
    return is_good && malloc(many) == NULL && notes->all_waits == 0;
}

static bool break_waits(void)
{
    char *before = sbrk(1 << 20);
    hold((void *)(((uintptr_t)before + 4191) & ~4095UL), 4096, PROT_READ | PROT_WRITE, true);
    if (sbrk(4096) == (void *)-1 || notes->range_waits != 0)
        return false;
    sbrk(-4096 - (1 << 20));
    if (notes->range_waits != 1 || sbrk(0) != before)
        return false;
    before = sbrk(1 << 20);
    hold((void *)(((uintptr_t)before + 4191) & ~4095UL), 4096, PROT_READ | PROT_WRITE, true);
    return brk(before) == 0 && notes->range_waits == 1;
}

static bool shmat_over_memory_waits(void)
{
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    arm();
    void *first = shmat(segment, NULL, 0);
    bool is_good = notes->all_waits == 0 && first != (void *)-1;
    is_good = is_good && shmat(segment, page, SHM_REMAP) == page && notes->all_waits == 1;
    shmctl(segment, IPC_RMID, NULL);
    return is_good;
}

static int connected_socket(int *listener)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t name_bytes = sizeof(name);
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(*listener, (struct sockaddr *)&name, sizeof(name));
    listen(*listener, 4);
    getsockname(*listener, (struct sockaddr *)&name, &name_bytes);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    return connect(descriptor, (struct sockaddr *)&name, sizeof(name)) == 0 || errno == EINPROGRESS ? descriptor : -1;
}

static bool stream_sockets_are_reported(void)
{
    int listener;
    int descriptor = connected_socket(&listener);
    if (descriptor < 0 || notes->socket_count != 2 || notes->socket_last != descriptor)
        return false;
    int accepted = accept(listener, NULL, NULL);
    if (notes->socket_count != 3 || notes->socket_last != accepted)
        return false;
    connected_socket(&listener);
    accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return notes->socket_count == 6 && notes->socket_last == accepted;
}

static bool other_sockets_are_not_reported(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/no/socket"};
    int datagram = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(datagram, (struct sockaddr *)&name, sizeof(name)) != 0 || notes->socket_count != 0)
        return false;
    int failing = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(failing, (struct sockaddr *)&local, sizeof(local)) == -1 && errno == ENOENT &&
           notes->socket_count == 0;
}

static void handler_one(int number)
{
    (void)number;
}

static void handler_two(int number)
{
    (void)number;
}

extern sighandler_t __sysv_signal(int number, sighandler_t handler);

static bool fault_signal_is_shown_as_set(void)
{
    struct sigaction action = {.sa_handler = handler_one, .sa_flags = SA_ONSTACK};
    struct sigaction seen;
    struct sigaction kernel_before;
    sigaction(SIGSEGV, NULL, &kernel_before);
    notes->shares_signals = true;
    if (sigaction(SIGSEGV, &action, NULL) || sigaction(SIGSEGV, NULL, &seen))
        return false;
    if (seen.sa_handler != handler_one || seen.sa_flags != SA_ONSTACK || signal(SIGSEGV, handler_two) != handler_one)
        return false;
    if (__sysv_signal(SIGSEGV, SIG_IGN) != handler_two)
        return false;
    notes->shares_signals = false;
    sigaction(SIGSEGV, NULL, &seen);
    return seen.sa_handler == kernel_before.sa_handler;
}

/* The child borrows this memory, but has handlers of its own. */
static bool vfork_child_handles_alone(void)
{
    struct sigaction seen;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    notes->shares_signals = true;
    signal(SIGSEGV, handler_one);
    pid_t child = vfork();
    if (child == 0) {
        bool is_done = sigaction(SIGSEGV, &usual, NULL) == 0 && signal(SIGSEGV, SIG_IGN) == SIG_DFL;
        _exit(is_done ? 7 : 8);
    }
    bool is_good = child_status(child) == 7 && sigaction(SIGSEGV, NULL, &seen) == 0;
    notes->shares_signals = false;
    return is_good && seen.sa_handler == handler_one;
}

static bool stream_without_descriptor_keeps_errno(void)
{
    char text[16];
    FILE *stream = fmemopen("hello", 5, "r");
    arm();
    errno = 0;
    return fread(text, 1, sizeof text, stream) == 5 && errno == 0 && fclose(stream) == 0;
}

static bool names_may_be_anywhere(void)
{
    arm();
    bool is_refused = access((char *)16, R_OK) == -1 && errno == EFAULT;
    arm();
    const char *volatile none = NULL;
    return is_refused && open(none, O_RDONLY) == -1 && errno == EFAULT;
}

static bool other_signals_are_libcs(void)
{
    struct sigaction seen;
    notes->shares_signals = true;
    bool is_good = signal(SIGUSR1, handler_one) == SIG_DFL && sigaction(SIGUSR1, NULL, &seen) == 0 &&
                   seen.sa_handler == handler_one && (seen.sa_flags & SA_RESTART) && signal(9, handler_one) == SIG_ERR;
    notes->shares_signals = false;
    return is_good && errno == EINVAL && signal(SIGSEGV, handler_one) == SIG_DFL &&
           signal(SIGSEGV, SIG_DFL) == handler_one;
}

static bool is_blocked(int number)
{
    sigset_t seen;
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    return sigismember(&seen, number) == 1;
}

/* Programs call them all the same. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

sighandler_t bsd_signal(int number, sighandler_t handler); /* which glibc declares for X/Open 6 alone */

static bool older_names_work(void)
{
    return sigset(SIGUSR2, handler_one) == SIG_DFL && sigset(SIGUSR2, SIG_HOLD) == handler_one &&
           sigset(SIGUSR2, SIG_DFL) == SIG_HOLD && sighold(SIGUSR2) == 0 && sigrelse(SIGUSR2) == 0 &&
           sigignore(SIGUSR2) == 0 && ssignal(SIGUSR2, handler_one) == SIG_IGN &&
           sysv_signal(SIGUSR2, SIG_DFL) == handler_one;
}

static bool older_names_leave_fault_signal(void)
{
    return ssignal(SIGSEGV, handler_two) != SIG_ERR && bsd_signal(SIGSEGV, handler_one) == handler_two &&
           sysv_signal(SIGSEGV, handler_two) == handler_one && sigset(SIGSEGV, handler_one) == handler_two &&
           sigset(SIGSEGV, SIG_HOLD) == handler_one && sighold(SIGSEGV) == 0 && sigignore(SIGSEGV) == 0 &&
           signal(SIGSEGV, SIG_DFL) == SIG_IGN && !is_blocked(SIGSEGV);
}

#pragma GCC diagnostic pop

static bool older_names_share_signals(void)
{
    struct sigaction before;
    struct sigaction after;
    sigaction(SIGSEGV, NULL, &before);
    notes->shares_signals = true;
    bool is_good = older_names_work() && older_names_leave_fault_signal();
    notes->shares_signals = false;
    sigaction(SIGSEGV, NULL, &after);
    return is_good && after.sa_handler == before.sa_handler;
}

static volatile bool was_blocked;

static void block_look(int number)
{
    (void)number;
    was_blocked = is_blocked(SIGSEGV);
}

static void *thread_block_look(void *argument)
{
    block_look(0);
    return argument;
}

static bool thread_finds_it(bool expected)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    was_blocked = !expected;
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_create(&thread, &attributes, thread_block_look, NULL);
    pthread_join(thread, NULL);
    return was_blocked == expected;
}

/* A handler of SIGSEGV's may, and then wants its own next fault. */
static bool unblocking_it_is_told(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    notes->opened_count = 0;
    notes->shares_signals = true;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    notes->shares_signals = false;
    return notes->opened_count == 2;
}

static bool fault_signal_is_open_to_threads(void)
{
    bool is_good = true;
    for (int shares = 0; shares <= 1; shares++) {
        notes->shares_signals = shares;
        is_good = is_good && thread_finds_it(!shares);
    }
    notes->shares_signals = false;
    return is_good;
}

static bool fault_signal_stays_open(void)
{
    sigset_t all;
    sigset_t seen;
    sigfillset(&all);
    notes->shares_signals = true;
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    bool is_good = !sigismember(&seen, SIGSEGV) && sigismember(&seen, SIGUSR1);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigprocmask(SIG_SETMASK, NULL, &seen);
    is_good = is_good && !sigismember(&seen, SIGSEGV) && sigismember(&seen, SIGUSR1);
    notes->shares_signals = false;
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigprocmask(SIG_SETMASK, NULL, &seen);
    return is_good && sigismember(&seen, SIGSEGV);
}

/* dlsym has what was loaded before adjusted (which is done once for each load). */
static bool dlsym_hides_names(void)
{
    dlsym(RTLD_DEFAULT, "none");
    int before = notes->hide_count;
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    bool is_found = library && dlsym(library, "ns_name_pton") && notes->hide_count > before;
    return is_found && dlsym(library, "none") == NULL && dlerror();
}

/* Whether or not this processor has keys. */
static bool protection_keys_are_told(void)
{
    arm();
    pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, 0);
    pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, -1);
    syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_WRITE, -1);
    bool is_quiet = notes->key_count == 0;
    pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, 1);
    syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_WRITE, 1);
    return is_quiet && notes->key_count == 2;
}

/* Whether or not this kernel has io_uring. */
static bool registrations_are_told(void)
{
    arm();
    dlsym(RTLD_DEFAULT, "cuMem");
    syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0);
    bool is_quiet = notes->registration_count == 0;
    dlsym(RTLD_DEFAULT, "cuMemHostRegister_v2");
    syscall(SYS_io_uring_setup, 0, 0);
    return is_quiet && notes->registration_count == 2;
}

static bool profiling_names_are_told(void)
{
    arm();
    dlsym(RTLD_DEFAULT, "MPI_Send");
    bool is_quiet = notes->bypass_count == 0;
    dlsym(RTLD_DEFAULT, "PMPI_Send");
    return is_quiet && notes->bypass_count == 1;
}

/* One that this libc may lack, as GLIBC before 2.34 does. */
static bool lacking_names_look_absent(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    bool is_lacking = dlsym(libc, "closefrom") == NULL;
    bool is_hidden = dlsym(RTLD_DEFAULT, "closefrom") == NULL;
    return is_hidden == is_lacking && (!is_lacking || dlerror() != NULL) && dlsym(RTLD_NEXT, "read") != NULL;
}

/* The errors of dlopen and dlsym are the program's, not the lookup's. */
static bool loader_error_survives(void)
{
    dlopen("/no/library.so", RTLD_NOW);
    free(malloc(10));
    write(-1, "", 0);
    const char *text = dlerror();
    return text && strstr(text, "/no/library.so");
}

/* RTLD_NEXT is answered from the caller's place: this program's, whose next is
 * the preload, not the preload's, whose next is libc. */
static bool next_is_the_callers_next(void)
{
    Dl_info home;
    void *next = dlsym(RTLD_NEXT, "read");
    return next && dladdr(next, &home) && strstr(home.dli_fname, "libc_test_preload");
}

static bool is_of_preload(const char *name)
{
    Dl_info home;
    return dladdr(dlsym(RTLD_DEFAULT, name), &home) && strstr(home.dli_fname, "libc_test_preload");
}

/* UCX puts itself before these entries, and goes on to what libc is said to have: still to them. */
static bool transports_go_on_to_the_loaders_entries(void)
{
    extern void *transport_find(const char *name);
    return transport_find("dlclose") == dlsym(RTLD_DEFAULT, "dlclose") && is_of_preload("dlclose") &&
           transport_find("dlopen") == dlsym(RTLD_DEFAULT, "dlopen") && is_of_preload("dlopen") &&
           transport_find("read") != dlsym(RTLD_DEFAULT, "read");
}

/* UCX overwrites the code of what it finds under these names. Who else asks calls what it finds. */
static bool patchers_find_libcs_functions(void)
{
    extern void *transport_find_to_patch(const char *name);
    return is_of_preload("munmap") && is_of_preload("madvise") && is_of_preload("sbrk") && is_of_preload("free") &&
           is_of_preload("read") && transport_find_to_patch("munmap") == dlsym(dlopen("libc.so.6", RTLD_NOW), "munmap");
}

static void *thread_exit_posix(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

static int thread_exit_c11(void *unused)
{
    (void)unused;
    thrd_exit(0);
}

/* Whose ends nobody waits for. */
static bool threads_exit(void)
{
    pthread_t posix;
    thrd_t c11;
    pthread_create(&posix, NULL, thread_exit_posix, NULL);
    thrd_create(&c11, thread_exit_c11, NULL);
    return pthread_join(posix, NULL) == 0 && thrd_join(c11, NULL) == thrd_success && notes->all_waits == 0;
}

static void *thread_outlive(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    _exit(notes->all_waits == 1 ? 0 : 1);
}

/* way: 0, 1 or 2. */
static int status_without_first_thread(int way)
{
    static pthread_t first, other;
    pid_t child = fork();
    if (child != 0)
        return child_status(child);
    first = pthread_self();
    pthread_create(&other, NULL, thread_outlive, &first);
    notes->all_waits = 0;
    if (way == 0)
        pthread_exit(NULL);
    if (way == 1)
        thrd_exit(0);
    syscall(SYS_exit, 0);
    return -1;
}

static bool the_first_threads_end_waits(void)
{
    return threads_exit() && status_without_first_thread(0) == 0 && status_without_first_thread(1) == 0 &&
           status_without_first_thread(2) == 0;
}

static const struct {
    const char *name;
    bool (*holds)(void);
} claims[] = {
    {"fork_waits_and_tells_the_child", fork_waits_and_tells_the_child},
    {"a_thread_is_told", a_thread_is_told},
    {"a_transports_thread_is_not_told", a_transports_thread_is_not_told},
    {"an_unseen_thread_is_found", an_unseen_thread_is_found},
    {"a_c11_thread_is_told", a_c11_thread_is_told},
    {"threads_of_libc_are_told", threads_of_libc_are_told},
    {"openings_wait_for_all", openings_wait_for_all},
    {"reaching_a_peer_waits_for_all", reaching_a_peer_waits_for_all},
    {"looks_wait_for_all", looks_wait_for_all},
    {"limits_wait_for_all", limits_wait_for_all},
    {"filters_wait_for_all", filters_wait_for_all},
    {"the_first_threads_end_waits", the_first_threads_end_waits},
    {"forbidding_peers_waits_for_all", forbidding_peers_waits_for_all},
    {"lookers_wait_for_all", lookers_wait_for_all},
    {"open_files_wait_for_all", open_files_wait_for_all},
    {"named_pipes_wait_for_all", named_pipes_wait_for_all},
    {"clone_waits_unless_memory_is_shared", clone_waits_unless_memory_is_shared},
    {"given_buffers_are_waited_for", given_buffers_are_waited_for},
    {"unloading_waits_for_all", unloading_waits_for_all},
    {"unknown_system_calls_wait_for_all", unknown_system_calls_wait_for_all},
    {"harmless_system_calls_do_not_wait", harmless_system_calls_do_not_wait},
    {"a_watched_memory_is_told", a_watched_memory_is_told},
    {"a_special_mapping_is_told", a_special_mapping_is_told},
    {"a_changed_mapping_is_told", a_changed_mapping_is_told},
    {"draining_waits_before_every_entry", draining_waits_before_every_entry},
    {"handlers_leave_touches_open", handlers_leave_touches_open},
    {"mask_is_shown_as_set", mask_is_shown_as_set},
    {"vfork_child_handles_alone", vfork_child_handles_alone},
    {"stream_without_descriptor_keeps_errno", stream_without_descriptor_keeps_errno},
    {"names_may_be_anywhere", names_may_be_anywhere},
    {"own_descriptors_stay_open", own_descriptors_stay_open},
    {"vfork_waits_and_returns_twice", vfork_waits_and_returns_twice},
    {"vfork_child_ends_alone", vfork_child_ends_alone},
    {"exits_are_told_once", exits_are_told_once},
    {"jumps_are_told", jumps_are_told},
    {"spawns_wait", spawns_wait},
    {"execs_keep_their_arguments", execs_keep_their_arguments},
    {"failing_execs_wait", failing_execs_wait},
    {"heap_waits", heap_waits},
    {"blocks_are_laid_out_by_libc", blocks_are_laid_out_by_libc},
    {"huge_pages_leave_one_mapping", huge_pages_leave_one_mapping},
    {"calloc_is_zero", calloc_is_zero},
    {"without_memory_ops_are_waited_for", without_memory_ops_are_waited_for},
    {"break_waits", break_waits},
    {"shmat_over_memory_waits", shmat_over_memory_waits},
    {"stream_sockets_are_reported", stream_sockets_are_reported},
    {"other_sockets_are_not_reported", other_sockets_are_not_reported},
    {"fault_signal_is_shown_as_set", fault_signal_is_shown_as_set},
    {"other_signals_are_libcs", other_signals_are_libcs},
    {"fault_signal_stays_open", fault_signal_stays_open},
    {"older_names_share_signals", older_names_share_signals},
    {"fault_signal_is_open_to_threads", fault_signal_is_open_to_threads},
    {"unblocking_it_is_told", unblocking_it_is_told},
    {"dlsym_hides_names", dlsym_hides_names},
    {"protection_keys_are_told", protection_keys_are_told},
    {"registrations_are_told", registrations_are_told},
    {"profiling_names_are_told", profiling_names_are_told},
    {"lacking_names_look_absent", lacking_names_look_absent},
    {"loader_error_survives", loader_error_survives},
    {"next_is_the_callers_next", next_is_the_callers_next},
    {"transports_go_on_to_the_loaders_entries", transports_go_on_to_the_loaders_entries},
    {"patchers_find_libcs_functions", patchers_find_libcs_functions},
};

/* Each in a child of its own, so that what it changes stays there. */
static bool claim_holds(bool (*holds)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(holds() ? 0 : 1);
    return child_status(child) == 0;
}

int main(void)
{
    int failures = 0;
    setvbuf(stdout, NULL, _IONBF, 0); /* the children must not print it again */
    hold = (void (*)(void *, size_t, int, bool))dlsym(RTLD_DEFAULT, "fake_hold");
    notes = dlsym(RTLD_DEFAULT, "fake_notes");
    drain = (void (*)(bool))dlsym(RTLD_DEFAULT, "fake_drain");
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!hold || !notes)
        return puts("run me with the test preload"), 1;
    for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
        bool is_good = claim_holds(claims[i].holds);
        failures += !is_good;
        printf("%s %s\n", is_good ? "ok    " : "FAILED", claims[i].name);
    }
    return failures != 0;
}
