/* SPDX-License-Identifier: MIT */
/* Claim: code that runs with all signals blocked may use what was just received.
 * defers: receive
 * quick: signal-1
 * arguments: suspend ppoll pselect epoll thread thread_early context context_set hold block early */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

enum { STACK_BYTES = 1 << 16 };

static const unsigned char *message;
static volatile int seen = -1;
static ucontext_t home, away;
static volatile bool is_home;

static void handle_signal(int number)
{
    (void)number;
    seen = message[CHECK_LARGE_BYTES / 2];
}

static void *run_thread(void *unused)
{
    handle_signal(0);
    return unused;
}

static void run_context(void)
{
    handle_signal(0);
}

static sigset_t all_but(int number)
{
    sigset_t set;
    sigfillset(&set);
    sigdelset(&set, number);
    return set;
}

/* SIGUSR1 is pending, and each of these opens it. */
static void handler_await(const char *way)
{
    struct sigaction action = {.sa_handler = handle_signal};
    sigset_t closed = all_but(SIGUSR1);
    struct timespec long_time = {5, 0};
    struct epoll_event event;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    if (strcmp(way, "suspend") == 0)
        sigsuspend(&closed);
    if (strcmp(way, "ppoll") == 0)
        ppoll(NULL, 0, &long_time, &closed);
    if (strcmp(way, "pselect") == 0)
        pselect(0, NULL, NULL, NULL, &long_time, &closed);
    if (strcmp(way, "epoll") == 0)
        epoll_pwait(epoll_create1(0), &event, 1, 5000, &closed);
}

static void context_enter(const char *way)
{
    static char *stack;
    stack = malloc(STACK_BYTES);
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = STACK_BYTES;
    away.uc_link = &home;
    away.uc_sigmask = all_but(SIGUSR2);
    makecontext(&away, run_context, 0);
    if (strcmp(way, "context") == 0) {
        swapcontext(&home, &away);
        return;
    }
    getcontext(&home);
    if (!is_home) {
        is_home = true;
        setcontext(&away);
    }
}

static void thread_run(pthread_attr_t *attributes)
{
    pthread_t thread;
    pthread_create(&thread, attributes, run_thread, NULL);
    pthread_join(thread, NULL);
}

static void block_old(const char *way)
{
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"");
    if (strcmp(way, "hold") == 0)
        sighold(SIGSEGV);
    if (strcmp(way, "block") == 0) {
        sigblock(~0);
        sigsetmask(~0);
    }
    _Pragma("GCC diagnostic pop");
}

static void message_use(const char *way, pthread_attr_t *attributes)
{
    if (strncmp(way, "thread", 6) == 0)
        thread_run(attributes);
    else if (strncmp(way, "context", 7) == 0)
        context_enter(way);
    else if (strcmp(way, "hold") == 0 || strcmp(way, "block") == 0)
        block_old(way), run_context();
    else if (strcmp(way, "early") == 0)
        run_context();
    else
        handler_await(way);
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    sigset_t all = all_but(SIGKILL), one;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (strcmp(way, "thread_early") == 0)
        pthread_attr_setsigmask_np(&attributes, &all);
    if (strcmp(way, "early") == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    check_start(&argc, &argv);
    if (strcmp(way, "thread") == 0)
        pthread_attr_setsigmask_np(&attributes, &all);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_BLOCK, &one, NULL);
    message = buffer;
    if (check_rank() == 1) {
        check_delay();
        check_delay();
        check_fill(buffer, CHECK_LARGE_BYTES, 5);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    message_use(way, &attributes);
    check(seen == check_byte(CHECK_LARGE_BYTES / 2, 5), "the message");
    return check_end();
}
