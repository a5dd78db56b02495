/* SPDX-License-Identifier: MIT */
/* Claim: munmap() that a program finds by dlsym(RTLD_DEFAULT, ...), as LuaJIT does, waits for the receive into what it
 * takes away: what is mapped there next stays as it is.
 * Where nobody has patched libc: what does so may come to Lapwing all the same, by syscall().
 * flags: -ldl
 * environment: OMPI_MCA_memory=^patcher UCX_MEM_EVENTS=no
 * defers: receive
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = 4 * CHECK_LARGE_BYTES };

typedef int unmap_fn(void *memory, size_t length);

static void *map(void *at, int flags)
{
    return mmap(at, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void receive_and_unmap(unsigned char *memory)
{
    unmap_fn *unmap = (unmap_fn *)dlsym(RTLD_DEFAULT, "munmap");
    check_recv(memory, LENGTH, 1, 1);
    check(unmap(memory, LENGTH) == 0, "munmap()");
    unsigned char *next = map(memory, MAP_FIXED_NOREPLACE);
    check(next == memory, "new memory in the old one's place");
    check_fill(next, LENGTH, 7);
    check_delay(), check_delay(), check_delay();
    check(check_is_filled(next, LENGTH, 7), "the message is not in the new memory");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory = map(NULL, 0);
    check(memory != MAP_FAILED, "mmap()");
    check_fill(memory, LENGTH, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        receive_and_unmap(memory);
    } else {
        check_delay();
        check_send(memory, LENGTH, 0, 1);
    }
    return check_end();
}
