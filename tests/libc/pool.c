/* SPDX-License-Identifier: MIT */
/* A library whose constructor waits for a thread that begins another one, which maps shared memory, while dlopen() has
 * the loader's lock. */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

static void *leaf(void *argument)
{
    void *shared = mmap(NULL, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    munmap(shared, 1);
    return argument;
}

static void *branch(void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, leaf, NULL) == 0)
        pthread_join(thread, NULL);
    return argument;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, branch, NULL) == 0)
        pthread_join(thread, NULL);
}

int plugin_answer(void);
__attribute__((visibility("default"))) int plugin_answer(void)
{
    return 42;
}
