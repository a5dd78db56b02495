/* SPDX-License-Identifier: MIT */
/* Claim: another thread's touch does not wait for a collective that the peer only
 * enters once that thread is done.
 * flags: -pthread */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

static unsigned char *buffer;
static atomic_bool is_done;

static void *use(void *unused)
{
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message");
    atomic_store(&is_done, true);
    return unused;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int number = check_rank();
    if (check_rank() == 0) {
        pthread_t thread;
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        pthread_create(&thread, NULL, use, NULL);
        MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    } else {
        check_send_late(buffer, CHECK_LARGE_BYTES, 3, 0, 0);
        check_delay();
        MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    check(number == 1, "the number");
    return check_end();
}
