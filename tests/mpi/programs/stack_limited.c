/* SPDX-License-Identifier: MIT */
/* Claim: where addresses are limited (RLIMIT_AS, ulimit -v) the stack grows after a receive as far as it grows without
 * Lapwing, also when the program has taken more memory since, or has limited itself only then.
 * arguments: nothing block mapping break thread late
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { MIB = 1 << 20, MESSAGE_BYTES = 128 * MIB, FRAME_BYTES = 64 << 10, STACK_BYTES = 8 * MIB, DEPTH = 100 };

static void limit(rlim_t bytes)
{
    check(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, RLIM_INFINITY}) == 0, "setrlimit()");
}

/* 6.25 MiB of a stack that has not grown yet: once in each process. */
__attribute__((noinline)) static int descend(int frames)
{
    volatile char frame[FRAME_BYTES];
    frame[0] = (char)frames;
    frame[FRAME_BYTES - 1] = 1;
    return frames == 0 ? 0 : descend(frames - 1) + frame[FRAME_BYTES - 1];
}

static void *taken;

static void take_nothing(size_t bytes)
{
    (void)bytes;
}

static void take_block(size_t bytes)
{
    taken = malloc(bytes);
}

static void take_mapping(size_t bytes)
{
    taken = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void take_break(size_t bytes)
{
    taken = sbrk((intptr_t)bytes);
}

static void *run(void *unused)
{
    pause();
    return unused;
}

static void take_thread(size_t bytes)
{
    static pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    taken = pthread_create(&thread, &attributes, run, NULL) == 0 ? &thread : NULL;
}

/* What the program may do between a receive and the growth of its stack; left_bytes: of addresses, before. */
static const struct way {
    const char *name;
    void (*take)(size_t bytes);
    size_t left_bytes;
    size_t taken_bytes;
    bool limits_late;
} ways[] = {
    {"nothing", take_nothing, 132 * MIB, 0, false},        {"block", take_block, 192 * MIB, 62 * MIB, false},
    {"mapping", take_mapping, 192 * MIB, 62 * MIB, false}, {"break", take_break, 192 * MIB, 62 * MIB, false},
    {"thread", take_thread, 192 * MIB, 62 * MIB, false},   {"late", take_nothing, 12 * MIB, 0, true},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static const struct way *way_find(const char *name)
{
    int way = 0;
    while (way < WAYS - 1 && strcmp(ways[way].name, name) != 0)
        way++;
    return &ways[way];
}

static void play(const struct way *way, unsigned char *buffer)
{
    unsigned long limit_bytes = check_addresses_bytes() + way->left_bytes;
    if (!way->limits_late)
        limit(limit_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(buffer, MESSAGE_BYTES, 1, 8);
    if (way->limits_late)
        limit(limit_bytes);
    way->take(way->taken_bytes);
    check(way->taken_bytes == 0 || (taken != NULL && taken != MAP_FAILED), "there is memory");
    check(descend(DEPTH) == DEPTH, "the stack has grown");
    check(check_is_filled(buffer, MESSAGE_BYTES, 3), "the message is there");
    limit(RLIM_INFINITY);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const struct way *way = way_find(argc > 1 ? argv[1] : "nothing");
    unsigned char *buffer = check_buffer_new(MESSAGE_BYTES);
    check(setrlimit(RLIMIT_STACK, &(struct rlimit){STACK_BYTES, RLIM_INFINITY}) == 0, "a stack of 8 MiB");
    /* Connections are made, and all threads run, which have memory of their own. */
    if (check_rank() == 0) {
        check_recv(buffer, MESSAGE_BYTES, 1, 8);
        play(way, buffer);
    } else {
        check_fill(buffer, MESSAGE_BYTES, 3);
        check_send(buffer, MESSAGE_BYTES, 0, 8);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 5; i++)
            check_delay();
        check_send(buffer, MESSAGE_BYTES, 0, 8);
    }
    return check_end();
}
