/* SPDX-License-Identifier: MIT */
/* Claim: a thread that a reduction function of the program began, inside MPI, sees what is received later as it is when
 * it has come.
 * environment: LAPWING_MATCH=off
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#include <stdatomic.h>
#include <unistd.h>

#include "own_sum.h"

static unsigned char *buffer;
static atomic_bool is_received;

static void *look(void *unused)
{
    while (!is_received)
        usleep(1000);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the message is there");
    return unused;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    own_sum_make(look);
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    } else {
        check_send_late(buffer, CHECK_LARGE_BYTES, 1, 0, 0);
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
    }
    is_received = true;
    if (own_sum.is_begun)
        pthread_join(own_sum.thread, NULL);
    return check_end();
}
