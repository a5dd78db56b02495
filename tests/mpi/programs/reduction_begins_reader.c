/* SPDX-License-Identifier: MIT */
/* Claim: a thread that a reduction function of the program began, inside MPI, sees what is received later as it is when
 * it has come.
 * environment: LAPWING_MATCH=off
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static pthread_t thread;
static bool is_begun;
static unsigned char *buffer;
static atomic_bool is_received;

static void *look(void *unused)
{
    while (!is_received)
        usleep(1000);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the message is there");
    return unused;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    if (!is_begun)
        pthread_create(&thread, NULL, look, NULL);
    is_begun = true;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void sum(void)
{
    int one = 1;
    int all = 0;
    MPI_Op operation;
    MPI_Op_create(add, 1, &operation);
    MPI_Allreduce(&one, &all, 1, MPI_INT, operation, MPI_COMM_WORLD);
    check(all == check_size(), "the sum");
    MPI_Op_free(&operation);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    sum();
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    } else {
        check_send_late(buffer, CHECK_LARGE_BYTES, 1, 0, 0);
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
    }
    is_received = true;
    if (is_begun)
        pthread_join(thread, NULL);
    return check_end();
}
