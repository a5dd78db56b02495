/* SPDX-License-Identifier: MIT */
/* Claim: where addresses are limited (RLIMIT_AS, ulimit -v) the program gets as much memory after a receive as it gets
 * without Lapwing, whatever it asks with, and so do its threads for their stacks.
 * defers: receive
 * quick: openmpi4 userfaultfd-user signal-1 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { MIB = 1 << 20, MESSAGE_BYTES = 128 * MIB, LEFT_BYTES = 192 * MIB, WANTED_BYTES = 128 * MIB, WAYS = 7 };

static unsigned long size_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    check(fscanf(file, "%lu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes)
{
    check(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, RLIM_INFINITY}) == 0, "setrlimit()");
}

static void *idle(void *unused)
{
    return unused;
}

static bool gets_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WANTED_BYTES);
    return pthread_create(&thread, &attributes, idle, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool gets_mapping(void *mapping)
{
    return mapping != MAP_FAILED && munmap(mapping, WANTED_BYTES) == 0;
}

static bool gets_block(void *block)
{
    bool is_got = block != NULL;
    free(block);
    return is_got;
}

/* A block of many small ones, as lists and trees are. */
static bool gets_small_blocks(void)
{
    enum { SMALL_BYTES = 16 << 10, COUNT = WANTED_BYTES / SMALL_BYTES };
    static void *blocks[COUNT];
    int count = 0;
    for (int i = 0; i < COUNT; i++)
        count += (blocks[i] = malloc(SMALL_BYTES)) != NULL;
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    return count == COUNT;
}

static bool gets_memory(int way)
{
    void *block = NULL;
    switch (way) {
    case 0:
        return gets_block(malloc(WANTED_BYTES));
    case 1:
        return gets_block(calloc(WANTED_BYTES / 4, 4));
    case 2:
        return gets_block(realloc(malloc(100), WANTED_BYTES));
    case 3:
        return posix_memalign(&block, 64, WANTED_BYTES) == 0 && gets_block(block);
    case 4:
        return gets_mapping(mmap(NULL, WANTED_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    case 5:
        return gets_thread();
    default:
        return gets_small_blocks();
    }
}

static void leave_nothing(int way)
{
    (void)way;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = malloc(MESSAGE_BYTES);
    /* Connections are made, and all threads run, which have memory of their own. */
    if (check_rank() == 0)
        check_recv(buffer, MESSAGE_BYTES, 1, 8);
    else
        check_send(buffer, MESSAGE_BYTES, 0, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        limit(size_bytes() + LEFT_BYTES);
    for (int way = 0; way < WAYS; way++)
        check_found_after_recv("there is memory", way, leave_nothing, gets_memory, buffer, MESSAGE_BYTES);
    limit(RLIM_INFINITY);
    return check_end();
}
