/* SPDX-License-Identifier: MIT */
/* Claim: a thread that pthread_create() did not start reads into memory beside a message that is received.
 * arguments: c11 timer aio handle
 * flags: -pthread
 * defers: receive
 * variants: default userfaultfd userfaultfd-user signal userfaultfd-1 signal-1 poll profile
 * quick: openmpi4
 * environment: LAPWING_MATCH=off */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { BESIDE = CHECK_LARGE_BYTES + 100 };

static unsigned char area[CHECK_LARGE_BYTES + 4096] __attribute__((aligned(4096)));
static int ends[2];
static _Atomic long result;
static struct aiocb order;

static void read_beside(void)
{
    atomic_store(&result, read(ends[0], area + BESIDE, 8));
}

static int read_in_thread(void *unused)
{
    (void)unused;
    read_beside();
    return 0;
}

static void *read_in_posix_thread(void *unused)
{
    read_beside();
    return unused;
}

static void read_in_notification(union sigval unused)
{
    (void)unused;
    read_beside();
}

static void begin_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = read_in_notification};
    struct itimerspec soon = {.it_value = {0, 1000000}};
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "a timer");
    timer_settime(timer, 0, &soon, NULL);
}

/* libc's own pthread_create, past what stands before it in the order of lookup. */
static void begin_by_handle(void)
{
    pthread_t thread;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    check(create != NULL && create(&thread, NULL, read_in_posix_thread, NULL) == 0, "a thread");
}

static void begin(const char *way)
{
    thrd_t thread;
    if (strcmp(way, "c11") == 0)
        check(thrd_create(&thread, read_in_thread, NULL) == thrd_success, "a thread");
    else if (strcmp(way, "timer") == 0)
        begin_timer();
    else if (strcmp(way, "handle") == 0)
        begin_by_handle();
    else
        check(aio_read(&order) == 0, "aio_read()");
}

static long wait_for_end(const char *way)
{
    if (strcmp(way, "aio") != 0) {
        while (atomic_load(&result) == 0)
            check_delay();
        return atomic_load(&result);
    }
    while (aio_error(&order) == EINPROGRESS)
        check_delay();
    return aio_return(&order);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (check_rank() == 1) {
        check_delay();
        check_delay();
        check_delay();
        check_send(area, CHECK_LARGE_BYTES + 50, 0, 0);
        check_recv(NULL, 0, 0, 2);
        check_delay();
        check_send(area, CHECK_LARGE_BYTES, 0, 1);
        return check_end();
    }
    check(pipe(ends) == 0, "a pipe");
    order = (struct aiocb){.aio_fildes = ends[0], .aio_buf = area + BESIDE, .aio_nbytes = 8};
    begin(argv[1]);
    check_delay();
    check_recv(area, CHECK_LARGE_BYTES + 50, 1, 0);
    check(write(ends[1], "abcdefgh", 8) == 8, "writing to the pipe");
    check(wait_for_end(argv[1]) == 8, "the other thread's read()");
    check(memcmp(area + BESIDE, "abcdefgh", 8) == 0, "what it read");
    check_send(NULL, 0, 1, 2);
    check_recv(area, CHECK_LARGE_BYTES, 1, 1); /* shares no page: deferred everywhere */
    return check_end();
}
