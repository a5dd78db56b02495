/* SPDX-License-Identifier: MIT */
/* Claim: code that runs with all signals blocked may use what was just received.
 * defers: receive
 * quick: openmpi4 signal-1
 * arguments: thread thread_early masked early */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static const unsigned char *message;
static volatile int seen = -1;

static void message_see(void)
{
    seen = message[CHECK_LARGE_BYTES / 2];
}

static void *run_thread(void *unused)
{
    message_see();
    return unused;
}

static void thread_run(pthread_attr_t *attributes)
{
    pthread_t thread;
    pthread_create(&thread, attributes, run_thread, NULL);
    pthread_join(thread, NULL);
}

static void message_use(const char *way, const sigset_t *all, pthread_attr_t *attributes)
{
    if (strcmp(way, "masked") == 0)
        pthread_sigmask(SIG_SETMASK, all, NULL);
    if (strncmp(way, "thread", 6) == 0)
        thread_run(attributes);
    else
        message_see();
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    sigset_t all;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    if (strcmp(way, "thread_early") == 0)
        pthread_attr_setsigmask_np(&attributes, &all);
    if (strcmp(way, "early") == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    check_start(&argc, &argv);
    if (strcmp(way, "thread") == 0)
        pthread_attr_setsigmask_np(&attributes, &all);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    message = buffer;
    if (check_rank() == 1) {
        check_delay();
        check_send_late(buffer, CHECK_LARGE_BYTES, 5, 0, 0);
        return check_end();
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    message_use(way, &all, &attributes);
    check(seen == check_byte(CHECK_LARGE_BYTES / 2, 5), "the message");
    return check_end();
}
