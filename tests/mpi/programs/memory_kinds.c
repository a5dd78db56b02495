/* SPDX-License-Identifier: MIT */
/* Claim: messages are right in memory that is aligned, locked, bound, guarded, of huge pages, of MPI's or of brk.
 * arguments: aligned locked bound guarded huge mpi brk */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, LENGTH = 1 << 21, INTERLEAVE = 3 };

static unsigned char *mapped(int flags)
{
    unsigned char *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static unsigned char *guarded(void)
{
    unsigned char *memory =
        mmap(NULL, LENGTH + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(memory + PAGE, LENGTH, PROT_READ | PROT_WRITE);
    return memory + PAGE;
}

static unsigned char *memory_of(const char *kind)
{
    void *memory = NULL;
    unsigned long nodes = 1;
    if (strcmp(kind, "aligned") == 0)
        return posix_memalign(&memory, 1 << 16, LENGTH) == 0 ? memory : NULL;
    if (strcmp(kind, "mpi") == 0)
        return MPI_Alloc_mem(LENGTH, MPI_INFO_NULL, &memory) == MPI_SUCCESS ? memory : NULL;
    if (strcmp(kind, "brk") == 0)
        return sbrk(LENGTH);
    if (strcmp(kind, "guarded") == 0)
        return guarded();
    memory = mapped(strcmp(kind, "huge") == 0 ? MAP_HUGETLB : 0);
    if (strcmp(kind, "locked") == 0 && mlock(memory, LENGTH) != 0)
        return NULL;
    if (strcmp(kind, "bound") == 0 && syscall(SYS_mbind, memory, (long)LENGTH, INTERLEAVE, &nodes, 8L, 0L) != 0)
        return NULL;
    return memory;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = memory_of(argv[1]);
    if (buffer == NULL) {
        printf("this machine gives no such memory: %s\n", argv[1]);
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < 5; i++)
        check_echo(buffer, LENGTH, i);
    return check_end();
}
