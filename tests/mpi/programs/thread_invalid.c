/* SPDX-License-Identifier: MIT */
/* Claim: a call with wrong arguments does not wait for another thread's send, which may need its next message.
 * flags: -pthread */
#include <pthread.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, LARGE_TAG = 1, WORD_TAG = 2 };

static unsigned char *sent;
static bool is_sending; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread_send(void *unused)
{
    pthread_mutex_lock(&lock);
    is_sending = true;
    pthread_mutex_unlock(&lock);
    check_send(sent, LENGTH, 1, LARGE_TAG); /* MPI alone waits here */
    return unused;
}

static void begin_send(pthread_t *thread)
{
    bool has_begun = false;
    pthread_create(thread, NULL, thread_send, NULL);
    while (!has_begun) {
        pthread_mutex_lock(&lock);
        has_begun = is_sending;
        pthread_mutex_unlock(&lock);
    }
    check_delay();
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char word = 0;
    check_start_multiple(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sent = check_buffer_new(LENGTH);
    check_fill(sent, LENGTH, 1);
    if (check_rank() == 0) {
        begin_send(&thread);
        int result = MPI_Recv(&word, 1, MPI_DATATYPE_NULL, 1, WORD_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(result != MPI_SUCCESS, "MPI says what is wrong");
        check_send(&word, 1, 1, WORD_TAG);
        pthread_join(thread, NULL);
    } else {
        check_recv(&word, 1, 0, WORD_TAG);
        check_recv(sent, LENGTH, 0, LARGE_TAG);
        check(check_is_filled(sent, LENGTH, 1), "the other thread's message");
    }
    return check_end();
}
