/* SPDX-License-Identifier: MIT */
/* Claim: while one thread waits in MPI_Ssend, another thread's touch of a received buffer is released.
 * flags: -pthread */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static char path[64] = "/tmp/ssend_threads_XXXXXX";

static void *toucher_run(void *unused)
{
    (void)unused;
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 4), "the message");
    unlink(path); /* the peer receives the MPI_Ssend only now */
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, ready = 0;
    pthread_t toucher;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        close(mkstemp(path));
        check_send(path, sizeof path, 1, 0);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
        pthread_create(&toucher, NULL, toucher_run, NULL);
        MPI_Ssend(&ready, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        pthread_join(toucher, NULL);
        return check_end();
    }
    check_fill(buffer, CHECK_LARGE_BYTES, 4);
    check_recv(path, sizeof path, 0, 0);
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
    while (access(path, F_OK) == 0)
        check_delay();
    check_recv(&ready, sizeof ready, 0, 2);
    return check_end();
}
