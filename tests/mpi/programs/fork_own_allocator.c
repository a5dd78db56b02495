/* SPDX-License-Identifier: MIT */
/* Claim: a program whose allocator is linked into it, and keeps its lock while the process forks (pthread_atfork), as
 * allocators do, forks while it receives: what the fork waits for may need memory.
 * flags: -pthread -fno-builtin
 * timeout: 20
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MESSAGE_BYTES = 1 << 20 };

void *__libc_malloc(size_t length);
void *__libc_calloc(size_t count, size_t length);
void *__libc_realloc(void *block, size_t length);
void *__libc_memalign(size_t alignment, size_t length);
void __libc_free(void *block);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_take(void)
{
    pthread_mutex_lock(&lock);
}

static void lock_release(void)
{
    pthread_mutex_unlock(&lock);
}

static void *locked(void *(*take)(size_t, size_t), size_t a, size_t b)
{
    lock_take();
    void *block = take(a, b);
    lock_release();
    return block;
}

static void *take_plain(size_t unused, size_t length)
{
    (void)unused;
    return __libc_malloc(length);
}

void *malloc(size_t length)
{
    return locked(take_plain, 0, length);
}

void *calloc(size_t count, size_t length)
{
    return locked(__libc_calloc, count, length);
}

void *memalign(size_t alignment, size_t length)
{
    return locked(__libc_memalign, alignment, length);
}

void *aligned_alloc(size_t alignment, size_t length)
{
    return memalign(alignment, length);
}

int posix_memalign(void **block, size_t alignment, size_t length)
{
    *block = memalign(alignment, length);
    return *block == NULL ? ENOMEM : 0;
}

void *realloc(void *block, size_t length)
{
    lock_take();
    void *resized = __libc_realloc(block, length);
    lock_release();
    return resized;
}

void free(void *block)
{
    lock_take();
    __libc_free(block);
    lock_release();
}

int main(int argc, char **argv)
{
    pthread_atfork(lock_take, lock_release, lock_release);
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(MESSAGE_BYTES);
    for (unsigned round = 1; round <= 20; round++) {
        if (check_rank() == 1) {
            check_send_late(buffer, MESSAGE_BYTES, round, 0, 0);
            continue;
        }
        check_recv(buffer, MESSAGE_BYTES, 1, 0);
        pid_t child = fork();
        if (child == 0)
            _exit(check_is_filled(buffer, MESSAGE_BYTES, round) ? 0 : 1);
        int status = -1;
        check(waitpid(child, &status, 0) == child && status == 0, "the child has the message");
    }
    return check_end();
}
