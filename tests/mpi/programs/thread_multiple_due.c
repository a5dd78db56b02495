/* SPDX-License-Identifier: MIT */
/* Claim: while a thread sends what is received only after a call of another thread, that thread may make an error
 * handler or a generalized request first, or have a handler for a signal and call a collective: it waits for no message
 * but its own.
 * arguments: handler grequest signal
 * flags: -pthread
 * timeout: 20
 * quick: openmpi4 mpich4 userfaultfd */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "check.h"

enum { DATA = 1 };

static unsigned char *buffer;
static _Atomic bool is_sending;

static void *send_large(void *unused)
{
    check_fill(buffer, CHECK_LARGE_BYTES, 3);
    atomic_store(&is_sending, true);
    check_send(buffer, CHECK_LARGE_BYTES, 1, DATA);
    return unused;
}

static void note_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
}

static void note_signal(int number)
{
    (void)number;
}

static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    MPI_Status_set_cancelled(status, 0);
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int let_go(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int is_complete)
{
    (void)unused, (void)is_complete;
    return MPI_SUCCESS;
}

static void make_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Errhandler_free(&handler);
}

static void make_request(void)
{
    MPI_Request request;
    MPI_Grequest_start(query, let_go, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    pthread_t sender;
    int word = 0;
    check_start_multiple(&argc, &argv);
    const char *way = argv[1];
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (strcmp(way, "signal") == 0)
        signal(SIGALRM, note_signal);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        pthread_create(&sender, NULL, send_large, NULL);
        while (!atomic_load(&is_sending))
            check_delay();
        check_delay();
        if (strcmp(way, "handler") == 0)
            make_handler();
        else if (strcmp(way, "grequest") == 0)
            make_request();
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD); /* the other rank receives only now */
        pthread_join(sender, NULL);
    } else {
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
        check_recv(buffer, CHECK_LARGE_BYTES, 0, DATA);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message");
    }
    return check_end();
}
