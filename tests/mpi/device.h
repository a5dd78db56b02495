/* SPDX-License-Identifier: MIT */
/* Stands in for a device that knows memory by its physical pages, for the libraries that stand in for the runtimes of
 * such devices. A pipe has the pages from vmsplice(2) on, as a device has those that its driver has pinned: what is
 * read from the pipe is what stands in them then, wherever they, or others in their place, are mapped meanwhile. It is
 * read past libc, as a device does. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DEVICE_BYTES = 1 << 20 }; /* pages enough to fill the largest pipe that users get */

static int device_pages[2]; /* the pipe that has them */
static int device_copy[2];

static inline long device_call(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
    register long fourth __asm__("r10") = d;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return answer;
#else
    return syscall(number, a, b, c, d);
#endif
}

/* Are these the bytes of the pages that it knows? */
static inline bool device_sees(const unsigned char *expected)
{
    static unsigned char seen[DEVICE_BYTES];
    long taken = device_call(SYS_tee, device_pages[0], device_copy[1], DEVICE_BYTES, 0);
    for (long done = 0; done < taken;) {
        long got = device_call(SYS_read, device_copy[0], (long)(seen + done), taken - done, 0);
        if (got <= 0)
            return false;
        done += got;
    }
    return taken == DEVICE_BYTES && __builtin_memcmp(seen, expected, DEVICE_BYTES) == 0;
}

/* From now on it knows this memory. False where the kernel gives no pipe of this size. */
static inline bool device_know(void *memory, size_t length_bytes)
{
    struct iovec part = {memory, length_bytes};
    if (length_bytes != DEVICE_BYTES || pipe(device_pages) != 0 || pipe(device_copy) != 0)
        return false;
    if (fcntl(device_pages[1], F_SETPIPE_SZ, DEVICE_BYTES) < 0 || fcntl(device_copy[1], F_SETPIPE_SZ, DEVICE_BYTES) < 0)
        return false;
    __builtin_memset(memory, 0, length_bytes); /* the pages that a look without writing would find are all one */
    return vmsplice(device_pages[1], &part, 1, SPLICE_F_NONBLOCK) == (ssize_t)length_bytes;
}

/* Memory of its own, of the kind that is held. */
static inline void *device_allocate(size_t length_bytes)
{
    void *memory = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && device_know(memory, length_bytes) ? memory : NULL;
}

#endif
