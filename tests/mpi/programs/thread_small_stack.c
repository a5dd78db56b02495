/* SPDX-License-Identifier: MIT */
/* Claim: a thread with the smallest stack that libc allows may touch what a receive still waits for, write it to a
 * descriptor, and free it.
 * defers: receive
 * quick: openmpi4 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 200000, WAYS = 3, SEED = 5 };

static unsigned char *buffer;
static char folder[64] = "/tmp/thread_small_stack_XXXXXX";
static char path[80];
static int way;

static bool is_written(void)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    bool is_whole = write(file, buffer, LENGTH) == LENGTH;
    return close(file) == 0 && is_whole;
}

static void *use(void *result)
{
    bool *is_good = result;
    if (way == 0)
        *is_good = buffer[LENGTH / 2] == check_byte(LENGTH / 2, SEED);
    else if (way == 1)
        *is_good = is_written();
    else
        free(buffer);
    return NULL;
}

static void use_in_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool is_good = way == 2;
    pthread_attr_init(&attributes);
    check(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0, "the smallest stack");
    check(pthread_create(&thread, &attributes, use, &is_good) == 0, "a thread with it");
    check(pthread_join(thread, NULL) == 0 && is_good, "what the thread finds");
}

static void send_late(void)
{
    check_fill(buffer, LENGTH, SEED);
    check_delay();
    check_send(buffer, LENGTH, 0, way);
}

static void exchange(void)
{
    buffer = check_buffer_new(LENGTH);
    snprintf(path, sizeof path, "%s/%d", folder, way);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        send_late();
    } else {
        check_recv(buffer, LENGTH, 1, way);
        use_in_thread();
        if (way == 1)
            check(unlink(path) == 0, "removing the file");
    }
    if (way != 2 || check_rank() == 1)
        free(buffer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    check(check_rank() != 0 || mkdtemp(folder) != NULL, "a folder");
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (way = 0; way < WAYS; way++)
        exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() != 0 || rmdir(folder) == 0, "removing the folder");
    return check_end();
}
