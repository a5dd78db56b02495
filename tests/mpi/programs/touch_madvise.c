/* SPDX-License-Identifier: MIT */
/* Claim: memory given back with madvise() or process_madvise(), or replaced with mmap(MAP_FIXED), right after a call
 * stays given back.
 * defers: receive
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { BY_MADVISE, BY_MMAP, BY_PROCESS, BY_PROCESS_NUMBER, WAYS };

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

typedef ssize_t process_madvise_fn(int, const struct iovec *, size_t, int, unsigned);

static int own_process(void)
{
    return (int)syscall(SYS_pidfd_open, getpid(), 0);
}

static ssize_t give_back_by_process(int way, void *address, size_t length_bytes)
{
    static int process = -1;
    if (process < 0)
        process = own_process();
    struct iovec part = {address, length_bytes};
    if (way == BY_PROCESS_NUMBER)
        return syscall(SYS_process_madvise, process, &part, 1L, MADV_DONTNEED, 0L);
    /* glibc 2.36 has it first. */
    process_madvise_fn *by_name = (process_madvise_fn *)dlsym(RTLD_DEFAULT, "process_madvise");
    errno = ENOSYS;
    return by_name != NULL ? by_name(process, &part, 1, MADV_DONTNEED, 0) : -1;
}

/* Linux 6.13 and newer let a process give back its own memory so. */
static bool is_possible(int way)
{
    if (way == BY_MADVISE || way == BY_MMAP)
        return true;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_done = give_back_by_process(way, page, 4096) == 4096;
    if (!is_done)
        printf("process_madvise() %s: not tried: %s\n", way == BY_PROCESS ? "of libc" : "by number", strerror(errno));
    munmap(page, 4096);
    return is_done;
}

static void give_back(int way, void *address, size_t length_bytes)
{
    if (way == BY_MADVISE)
        madvise(address, length_bytes, MADV_DONTNEED);
    else if (way == BY_MMAP)
        mmap(address, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    else
        check(give_back_by_process(way, address, length_bytes) == (ssize_t)length_bytes, "all of it is given back");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int way = 0; way < WAYS; way++) {
        if (!is_possible(way))
            continue;
        memset(buffer, 0xEE, CHECK_LARGE_BYTES);
        if (check_rank() == 1) {
            check_delay();
            check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        give_back(way, buffer, CHECK_LARGE_BYTES);
        check_delay();
        check_delay();
        for (size_t i = 0; i < CHECK_LARGE_BYTES; i++)
            check(buffer[i] == 0, "fresh memory reads as zero");
    }
    return check_end();
}
