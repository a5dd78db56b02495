/* SPDX-License-Identifier: MIT */
/* Claim: copies hold the bytes, never take more memory than the option allows,
 * and give it to blocks of another size when they are not needed; a signal that comes while a copy is made waits until
 * its handler may end what is under way. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/options.h"
#include "engine/gate.h"
#include "op/copies.h"
#include "op/host.h"

enum { KIB = 1024, TINY = 100, SMALL = 64 * KIB, LARGE = 512 * KIB };

static char source[1024 * KIB];
static char *sent;          /* what the handler finds over, and gives back */
static bool is_interrupted; /* signals come where memory is taken */
static volatile int handled;

static void handle(int number)
{
    (void)number;
    copies_give_back(sent);
    sent = NULL;
    handled++;
}

static void *own_take(size_t length_bytes)
{
    if (is_interrupted)
        raise(SIGUSR1);
    return malloc(length_bytes);
}

static void own_give_back(void *memory, size_t length_bytes)
{
    (void)length_bytes;
    free(memory);
}

const struct host host = {.memory_take = own_take, .memory_give_back = own_give_back};

static void test_unreadable(void)
{
    enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    char *memory = mmap(NULL, 3 * SMALL, PROTECTION, FLAGS, -1, 0);
    memset(memory, 5, 3 * SMALL);
    char *copy = copies_take_readable(memory, 3 * SMALL);
    claim(copy != NULL && memcmp(copy, memory, 3 * SMALL) == 0, "what can be read is copied");
    copies_give_back(copy);
    mprotect(memory + SMALL, SMALL, PROT_NONE);
    claim(copies_take_readable(memory, 3 * SMALL) == NULL, "no copy of what cannot be read");
    copy = copies_take(source, LARGE);
    claim(copy != NULL, "what was taken for it was given back");
    copies_give_back(copy);
}

/* As a handler of the program's that waits for a send from a copy. */
static void test_handler(void)
{
    enum { PATIENCE_S = 10 };
    alarm(PATIENCE_S);
    gate_share(false);
    gate_defer_signals();
    signal(SIGUSR1, handle);
    sent = copies_take(source, SMALL);
    is_interrupted = true;
    char *copy = copies_take(source, TINY); /* no spare block is as small */
    is_interrupted = false;
    usleep(1); /* a thread sanitizer hands signals on at calls of libc alone */
    claim(copy != NULL && handled == 1 && sent == NULL, "the handler has come");
    copies_give_back(copy);
    alarm(0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(i * 13 + i / 251);
    options.buffer_bytes = sizeof source;
    char *first = copies_take(source, LARGE);
    char *second = copies_take(source + LARGE, LARGE);
    claim(first != NULL && second != NULL, "there is room for two");
    claim(memcmp(first, source, LARGE) == 0 && memcmp(second, source + LARGE, LARGE) == 0, "the bytes");
    claim(copies_take(source, SMALL) == NULL, "no room for a third");
    copies_give_back(first);
    claim(copies_take(source, LARGE) == first, "a block is used again");
    copies_give_back(second);
    char *small = copies_take(source, SMALL);
    claim(small != NULL && memcmp(small, source, SMALL) == 0, "an unused block makes way");
    copies_give_back(NULL);
    claim(copies_cost_ns(LARGE) > 0, "what it costs is known");
    copies_give_back(first);
    copies_give_back(small);
    test_unreadable();
    test_handler();
    options.buffer_bytes = 0;
    claim(copies_take(source, 1) == NULL, "none where none are wanted");
    return 0;
}
