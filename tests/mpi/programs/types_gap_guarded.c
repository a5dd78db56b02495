/* SPDX-License-Identifier: MIT */
/* Claim: a message may have gaps of guard pages (MADV_GUARD_INSTALL), which lie in one mapping with the data and end
 * who reads them; the data arrive, and the gaps stay guarded.
 * arguments: send isend bsend replace
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE /* process_vm_readv */
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "buffered_send.h"

enum { BLOCKS = 4, BLOCK_BYTES = 256 * 1024, SPAN_BYTES = 2 * BLOCKS * BLOCK_BYTES, TIMES = 8 };
enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL, Linux 6.13; newer than Debian 12's headers */

static unsigned char *memory;
static MPI_Datatype type;

static unsigned char *block(int i)
{
    return memory + 2 * i * BLOCK_BYTES;
}

static unsigned char *gap(int i)
{
    return block(i) + BLOCK_BYTES;
}

static bool memory_make(void)
{
    bool is_guarded = true;
    memory = mmap(NULL, SPAN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < BLOCKS; i++)
        is_guarded = is_guarded && madvise(gap(i), BLOCK_BYTES, GUARD_INSTALL) == 0;
    return is_guarded;
}

static void blocks_fill(unsigned seed)
{
    for (int i = 0; i < BLOCKS; i++)
        check_fill(block(i), BLOCK_BYTES, seed + i);
}

static void blocks_check(unsigned seed)
{
    for (int i = 0; i < BLOCKS; i++)
        check(check_is_filled(block(i), BLOCK_BYTES, seed + i), "a block");
}

static bool is_readable(unsigned char *address)
{
    unsigned char byte;
    struct iovec to = {&byte, 1};
    struct iovec from = {address, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Some systems refuse the question. */
static void gaps_check(void)
{
    for (int i = 0; i < BLOCKS && is_readable(block(0)); i++)
        check(!is_readable(gap(i)) && !is_readable(gap(i) + BLOCK_BYTES - 1), "a gap is guarded");
}

static void isend(void)
{
    MPI_Request request;
    MPI_Isend(memory, 1, type, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send(const char *way)
{
    if (strcmp(way, "bsend") == 0)
        buffered_send(memory, type, 2 * SPAN_BYTES);
    else if (strcmp(way, "isend") == 0)
        isend();
    else
        MPI_Send(memory, 1, type, 1, 0, MPI_COMM_WORLD);
}

static void play(const char *way, unsigned seed)
{
    bool is_sender = check_rank() == 0;
    if (strcmp(way, "replace") == 0)
        MPI_Sendrecv_replace(memory, 1, type, 1 - check_rank(), 0, 1 - check_rank(), 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    else if (is_sender)
        send(way);
    else
        MPI_Recv(memory, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is_sender)
        blocks_check(seed);
}

/* Every other receive is called first, and may return early; the program writes on to what it has sent. */
static void exchange(const char *way, unsigned seed)
{
    blocks_fill(check_rank() == 0 ? seed : seed + BLOCKS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == (int)(seed % 2))
        check_delay();
    play(way, seed);
    blocks_fill(seed + 2 * BLOCKS);
    blocks_check(seed + 2 * BLOCKS);
    gaps_check();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!memory_make()) {
        MPI_Finalize();
        return check_skip("this kernel has no guard pages (MADV_GUARD_INSTALL)");
    }
    MPI_Type_vector(BLOCKS, BLOCK_BYTES, 2 * BLOCK_BYTES, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (unsigned i = 0; i < TIMES; i++) {
        exchange(argv[1], i);
        munmap(memory, SPAN_BYTES);
        memory_make();
    }
    MPI_Type_free(&type);
    return check_end();
}
