/* SPDX-License-Identifier: MIT */
/* Claim: a thread that never calls MPI may be cancelled while it waits for a message in a system call; the message
 * comes all the same, and the thread ends.
 * arguments: system write asynchronous
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd-user signal-1
 * environment: LAPWING_MATCH=off */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LATE_US = 700000, BEGIN_US = 100000, CANCEL_US = 300000 };

static unsigned char *buffer;
static const char *how;

static void *use_the_system(void *unused)
{
    usleep(BEGIN_US); /* the receive has been posted */
    if (strcmp(how, "asynchronous") == 0)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (strcmp(how, "system") == 0)
        (void)!system("true");
    else
        (void)!write(open("/dev/null", O_WRONLY), buffer, CHECK_LARGE_BYTES);
    pause();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *end;
    check_start(&argc, &argv);
    how = argc > 1 ? argv[1] : "system";
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 4);
        usleep(LATE_US);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    pthread_create(&thread, NULL, use_the_system, NULL);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    usleep(CANCEL_US);
    pthread_cancel(thread);
    check(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED, "the thread was cancelled");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 4), "the message");
    return check_end();
}
