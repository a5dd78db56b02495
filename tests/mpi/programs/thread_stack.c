/* SPDX-License-Identifier: MIT */
/* Claim: memory on the stack of another thread, be it there before MPI_Init or begun later, is received into and sent
 * from, while that thread goes on using its stack.
 * flags: -pthread
 * arguments: posix c11 given later
 * passes: memory_stack
 * quick: openmpi4 mpich4 */
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

#include "check.h"

enum { LENGTH = 200000, STACK_BYTES = 1 << 20 };

static unsigned char *_Atomic array;
static atomic_bool is_over;

static int lend(void *unused)
{
    unsigned char local[LENGTH];
    volatile unsigned long turns = 0;
    (void)unused;
    memset(local, 1, sizeof local);
    atomic_store(&array, local);
    while (!atomic_load(&is_over))
        turns++;
    return 0;
}

static void *lend_posix(void *unused)
{
    lend(unused);
    return unused;
}

/* Nobody joins the thread: it ends with the flag. */
static void lend_begin(const char *way)
{
    pthread_attr_t attributes;
    pthread_t thread;
    thrd_t c11;
    int error;
    pthread_attr_init(&attributes);
    if (strcmp(way, "given") == 0)
        pthread_attr_setstack(&attributes, aligned_alloc(4096, STACK_BYTES), STACK_BYTES);
    if (strcmp(way, "c11") == 0)
        error = thrd_create(&c11, lend, NULL) != thrd_success;
    else
        error = pthread_create(&thread, &attributes, lend_posix, NULL);
    check(error == 0, "a thread");
    while (atomic_load(&array) == NULL)
        ;
}

int main(int argc, char **argv)
{
    bool is_later = strcmp(argv[1], "later") == 0;
    if (!is_later)
        lend_begin(argv[1]);
    check_start(&argc, &argv);
    if (is_later)
        lend_begin(argv[1]);
    unsigned char *memory = atomic_load(&array);
    if (check_rank() == 0) {
        check_recv(memory, LENGTH, 1, 0);
        check(check_is_filled(memory, LENGTH, 5), "the message on the stack");
        check_send(memory, LENGTH, 1, 1);
    } else {
        check_send_late(memory, LENGTH, 5, 0, 0);
        check_recv(memory, LENGTH, 0, 1);
        check(check_is_filled(memory, LENGTH, 5), "the message that came back");
    }
    atomic_store(&is_over, true);
    return check_end();
}
