/* SPDX-License-Identifier: MIT */
/* Claim: a message may lie in any memory of the heap, with MPI's own small blocks on its last page: in memory from
 * sbrk(), in a block from before Lapwing's start, in all that malloc_usable_size() says a large block has.
 * arguments: break early usable
 * passes: memory_neighbours */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 100000, TURNS = 10, BESIDE = 27, TRIES = 50000, REQUESTS = 64, COMMS = 4 };

static const size_t sizes[] = {24, 40, 56, 72, 88, 104, 120, 200, 400};

struct buffer {
    unsigned char *bytes;
    size_t length;
};

static struct buffer early[TURNS];

static void page_free_up(struct buffer buffer)
{
    uintptr_t last_page = (uintptr_t)(buffer.bytes + buffer.length - 1) & ~(uintptr_t)4095;
    void *beside[BESIDE];
    int count = 0;
    for (int i = 0; i < TRIES && count < BESIDE; i++) {
        void *block = malloc(sizes[count / 3]);
        if (((uintptr_t)block & ~(uintptr_t)4095) == last_page)
            beside[count++] = block;
    }
    while (count)
        free(beside[--count]);
}

/* Runs before all constructors, as those of a library of the program's may. */
static void early_make(void)
{
    for (int i = 0; i < TURNS; i++) {
        early[i] = (struct buffer){malloc(LENGTH), LENGTH};
        page_free_up(early[i]);
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const at_start)(void) = early_make;

static struct buffer block_whole(size_t length)
{
    unsigned char *block = malloc(length);
    return (struct buffer){block, malloc_usable_size(block)};
}

static struct buffer buffer_make(const char *kind, int turn)
{
    if (strcmp(kind, "early") == 0)
        return early[turn];
    struct buffer buffer = {NULL, LENGTH};
    if (strcmp(kind, "break") == 0)
        buffer.bytes = sbrk(LENGTH);
    else
        buffer = block_whole(LENGTH);
    page_free_up(buffer);
    return buffer;
}

/* The least of both ranks': usable sizes may differ. */
static size_t length_common(size_t length)
{
    unsigned long mine = length;
    unsigned long least;
    MPI_Allreduce(&mine, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

/* Makes MPI allocate blocks of many sizes, and use them while the engine runs. */
static void small_messages(int peer)
{
    static MPI_Request requests[REQUESTS];
    static int numbers[REQUESTS];
    MPI_Comm comms[COMMS];
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, peer, i, comms[i % COMMS], &requests[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send(&i, 1, MPI_INT, peer, i, comms[i % COMMS]);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void turn(const char *kind, int i)
{
    struct buffer buffer = buffer_make(kind, i);
    size_t length = length_common(buffer.length);
    if (check_rank() == 0)
        check_recv(buffer.bytes, length, 1, REQUESTS);
    else
        check_fill(buffer.bytes, length, i), check_delay(), check_send(buffer.bytes, length, 0, REQUESTS);
    small_messages(1 - check_rank());
    check(check_is_filled(buffer.bytes, length, i), "the message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < TURNS; i++)
        turn(argv[1], i);
    return check_end();
}
