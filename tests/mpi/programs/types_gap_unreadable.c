/* SPDX-License-Identifier: MIT */
/* Claim: a message may have gaps that the program itself cannot read: closed pages, or none at all.
 * arguments: send bsend replace */
#include <sys/mman.h>

#include "buffered_send.h"

enum { BLOCKS = 4, BLOCK_BYTES = 256 * 1024, SPAN_BYTES = 2 * BLOCKS * BLOCK_BYTES, TIMES = 6 };

static unsigned char *memory;
static MPI_Datatype type;

static void memory_make(bool is_closed)
{
    memory = mmap(NULL, SPAN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *gap = memory + (2 * i + 1) * BLOCK_BYTES;
        if (is_closed)
            mprotect(gap, BLOCK_BYTES, PROT_NONE);
        else
            munmap(gap, BLOCK_BYTES);
    }
}

static void blocks_fill(unsigned seed)
{
    for (int i = 0; i < BLOCKS; i++)
        check_fill(memory + 2 * i * BLOCK_BYTES, BLOCK_BYTES, seed + i);
}

static void blocks_check(unsigned seed)
{
    for (int i = 0; i < BLOCKS; i++)
        check(check_is_filled(memory + 2 * i * BLOCK_BYTES, BLOCK_BYTES, seed + i), "a block");
}

static void play(const char *way)
{
    bool is_sender = check_rank() == 0;
    if (strcmp(way, "replace") == 0)
        MPI_Sendrecv_replace(memory, 1, type, 1 - check_rank(), 0, 1 - check_rank(), 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    else if (is_sender && strcmp(way, "bsend") == 0)
        buffered_send(memory, type, 2 * SPAN_BYTES);
    else if (is_sender)
        MPI_Send(memory, 1, type, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(memory, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is_sender)
        blocks_check(1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Type_vector(BLOCKS, BLOCK_BYTES, 2 * BLOCK_BYTES, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < TIMES; i++) {
        memory_make(i % 2 == 0);
        blocks_fill(check_rank() == 0 ? 1 : 7);
        play(argv[1]);
        munmap(memory, SPAN_BYTES);
    }
    MPI_Type_free(&type);
    return check_end();
}
