/* SPDX-License-Identifier: MIT */
/* Claim: a program that is compiled with -fsanitize=thread or address starts, and its runtime finds what stands behind
 * its own functions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;

static void *count(void *block)
{
    pthread_mutex_lock(&lock);
    counted += block != NULL;
    pthread_mutex_unlock(&lock);
    free(block);
    return NULL;
}

int main(void)
{
    enum { THREADS = 4, BYTES = 1 << 20 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, count, memset(malloc(BYTES), i, BYTES)) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%d threads\n", counted);
    return counted == THREADS ? 0 : 1;
}
