/* SPDX-License-Identifier: MIT */
/* Claim: messages are right whatever kind of memory they come from and go to: of the program, the stack, the heap, brk
 * or MPI, mapped, aligned, shared, of a file, locked, bound, guarded; and read-only data can be sent.
 * defers: any */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 1 << 20, PAGE = 4096, INTERLEAVE = 3, CONSTANTS = 100000 };

static unsigned char in_bss[LENGTH];
static const int constants[CONSTANTS] = {[0] = 5, [CONSTANTS - 1] = 6};

static unsigned char *mapped(int flags, int file)
{
    unsigned char *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, flags, file, 0);
    check(memory != MAP_FAILED, "a mapping");
    return memory;
}

static unsigned char *anonymous(void)
{
    return mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static int file_open(void)
{
    int file = fileno(tmpfile());
    check(ftruncate(file, LENGTH) == 0, "a temporary file");
    return file;
}

/* Locked, and bound to a node of the machine, as far as its limits allow. */
static unsigned char *locked(void)
{
    unsigned char *memory = anonymous();
    (void)!mlock(memory, LENGTH);
    return memory;
}

static unsigned char *bound(void)
{
    unsigned long nodes = 1;
    unsigned char *memory = anonymous();
    syscall(SYS_mbind, memory, (long)LENGTH, INTERLEAVE, &nodes, 8L, 0L);
    return memory;
}

static unsigned char *guarded(void)
{
    unsigned char *memory =
        mmap(NULL, LENGTH + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(memory + PAGE, LENGTH, PROT_READ | PROT_WRITE);
    return memory + PAGE;
}

static unsigned char *of_mpi(void)
{
    unsigned char *memory;
    check(MPI_Alloc_mem(LENGTH, MPI_INFO_NULL, &memory) == MPI_SUCCESS, "memory of MPI's");
    return memory;
}

static void send_constants(void)
{
    int received[CONSTANTS];
    if (check_rank() == 0) {
        check_send(constants, sizeof constants, 1, 2);
        return;
    }
    check_recv(received, sizeof received, 0, 2);
    check(memcmp(received, constants, sizeof constants) == 0, "read-only data");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char on_stack[LENGTH];
    int file = file_open();
    unsigned char *buffers[] = {
        in_bss,
        on_stack,
        malloc(LENGTH),
        anonymous(),
        mapped(MAP_SHARED | MAP_ANONYMOUS, -1),
        mapped(MAP_SHARED, file),
        mapped(MAP_PRIVATE, file),
        aligned_alloc(PAGE, LENGTH),
        aligned_alloc(1 << 16, LENGTH),
        locked(),
        bound(),
        guarded(),
        sbrk(LENGTH),
        of_mpi(),
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        check_echo(buffers[i], LENGTH, (unsigned)i);
        check_echo(buffers[i], LENGTH, (unsigned)i + 100);
    }
    send_constants();
    return check_end();
}
