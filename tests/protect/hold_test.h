/* SPDX-License-Identifier: MIT */
/* What the tests of the protect layer share. Each is started once per backend,
 * with the backend's name as its argument. */
#ifndef HOLD_TEST_H
#define HOLD_TEST_H

#define _GNU_SOURCE

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "protect/protect.h"

enum { EXIT_SKIPPED = 77, TEST_OP = 7 };

static _Atomic uint32_t touches_seen;
static _Atomic uint64_t touched_op;
static _Atomic uintptr_t touched_address;

__attribute__((unused)) static void touched_note(uint64_t op_id, uintptr_t address)
{
    atomic_store(&touched_op, op_id);
    atomic_store(&touched_address, address);
    atomic_fetch_add(&touches_seen, 1);
}

__attribute__((unused)) static void check(bool is_true, const char *claim)
{
    if (is_true)
        return;
    fprintf(stderr, "FAILED: %s\n", claim);
    exit(EXIT_FAILURE);
}

static enum option_hold choice_of(const char *name)
{
    if (strcmp(name, "userfaultfd") == 0)
        return OPTION_HOLD_USERFAULTFD;
    if (strcmp(name, "keys") == 0)
        return OPTION_HOLD_KEYS;
    return strcmp(name, "signal") == 0 ? OPTION_HOLD_SIGNAL : OPTION_HOLD_USERFAULTFD_USER;
}

/* Starts the backend that the command line names, or skips the test. */
__attribute__((unused)) static void backend_start(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : "signal";
    if (!protect_start(choice_of(name), touched_note)) {
        printf("skipped: this machine refuses the backend %s\n", name);
        exit(EXIT_SKIPPED);
    }
    check(strcmp(protect_backend_name(), name) == 0, "the chosen backend is the one in use");
}

__attribute__((unused)) static struct hold *hold_arm(enum hold_kind kind, void *address, size_t length_bytes,
                                                     uint64_t op_id)
{
    struct hold *hold = NULL;
    check(protect_hold_arm(kind, base_range_of(address, length_bytes), op_id, &hold) == REASON_NONE,
          "memory can be held");
    return hold;
}

/* What MPI does with held memory it does inside the gate, where a thread has the rights to it. */
__attribute__((unused)) static void inside_begin(void)
{
    struct base_rights rights = protect_rights();
    if (rights.mask != 0)
        base_rights_open(&rights);
}

__attribute__((unused)) static void inside_end(void)
{
    struct base_rights rights = protect_rights();
    if (rights.mask != 0)
        base_rights_close(&rights);
}

__attribute__((unused)) static void arrive(char *place, int value, size_t length_bytes)
{
    inside_begin();
    memset(place, value, length_bytes);
    inside_end();
}

__attribute__((unused)) static char *memory_map(size_t length_bytes)
{
    char *memory = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

__attribute__((unused)) static void sleep_ms(long milliseconds)
{
    struct timespec duration = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&duration, NULL);
}

/* A thread that does one access and says when it is through. */
struct toucher {
    pthread_t thread;
    volatile char *address;
    bool is_write;
    char value; /* read, or to be written */
    _Atomic bool has_begun;
    _Atomic bool is_through;
};

__attribute__((unused)) static void *toucher_run(void *argument)
{
    struct toucher *toucher = argument;
    atomic_store(&toucher->has_begun, true);
    if (toucher->is_write)
        *toucher->address = toucher->value;
    else
        toucher->value = *toucher->address;
    atomic_store(&toucher->is_through, true);
    return NULL;
}

__attribute__((unused)) static void toucher_start(struct toucher *toucher, char *address, bool is_write, char value)
{
    toucher->address = address;
    toucher->is_write = is_write;
    toucher->value = value;
    atomic_store(&toucher->has_begun, false);
    atomic_store(&toucher->is_through, false);
    check(pthread_create(&toucher->thread, NULL, toucher_run, toucher) == 0, "pthread_create");
}

__attribute__((unused)) static void toucher_join(struct toucher *toucher)
{
    pthread_join(toucher->thread, NULL);
}

/* Does a child that does this end by a fault? A sanitizer makes an exit code of that. Not if it takes too long. */
static inline bool does_crash(void (*act)(char *memory), char *memory)
{
    enum { PATIENCE_S = 20 };
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        act(memory);
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child, "waitpid");
    return WIFSIGNALED(status) ? WTERMSIG(status) != SIGALRM : WEXITSTATUS(status) != 0;
}

#endif
