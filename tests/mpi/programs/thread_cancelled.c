/* SPDX-License-Identifier: MIT */
/* Claim: a thread that never calls MPI may be cancelled while it waits for a message in a system call, or, beside a
 * freed send (`freed`), looks whether there is one; the message comes all the same, and the thread ends.
 * arguments: system write asynchronous freed
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd-user signal-1
 * environment: LAPWING_MATCH=off OMPI_MCA_btl=tcp,self */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LATE_US = 700000, BEGIN_US = 100000, CANCEL_US = 300000, LOOKS = 1000 };

static unsigned char *buffer;
static const char *how;
static volatile bool is_cancelled;

/* Cancelled by then. access() is no place where a thread ends (pthreads(7)), and MPI, which may be asked there, has
 * some. */
static void *look_at_files(void *unused)
{
    while (!is_cancelled)
        ;
    for (int i = 0; i < LOOKS; i++)
        (void)!access("/dev/null", R_OK);
    pause();
    return unused;
}

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

static void send_freed(void)
{
    MPI_Request request;
    check_fill(buffer, CHECK_LARGE_BYTES, 4);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *end;
    check_start(&argc, &argv);
    how = argc > 1 ? argv[1] : "system";
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    bool is_freed = strcmp(how, "freed") == 0;
    if (check_rank() == 1 && is_freed) {
        usleep(LATE_US);
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
        return check_end();
    }
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 4);
        usleep(LATE_US);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    pthread_create(&thread, NULL, is_freed ? look_at_files : use_the_system, NULL);
    if (is_freed)
        send_freed();
    else
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    usleep(CANCEL_US);
    pthread_cancel(thread);
    is_cancelled = true;
    check(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED, "the thread was cancelled");
    if (is_freed) /* what the receive answers */
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 4), "the message");
    return check_end();
}
