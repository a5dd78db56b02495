/* SPDX-License-Identifier: MIT */
/* Claim: under a hold with copies on touch a thread that touches goes on at once, MPI reads
 * what stood there at the call, and after the release the memory is what the program made of
 * it; too many touches wait; a forked child and a transfer that never ends are right as well;
 * and no mapping is left behind. */
#include <sys/wait.h>

#include "hold_test.h"
#include "protect/touched.h"

enum { PAGE = 4096, PAGES = 256, BYTES = PAGES * PAGE, EDGE = 100, ROUNDS = 200, WAIT_MS = 30 };

static char *memory;
static _Atomic bool is_over;

static void *engine_run(void *unused)
{
    while (!atomic_load(&is_over))
        protect_hold_events_read();
    return unused;
}

/* Not aligned: its first and last page have other bytes, too. */
static struct hold *memory_hold(void)
{
    memset(memory, 'o', BYTES);
    atomic_store(&touches_seen, 0);
    return hold_arm(HOLD_COPY_ON_TOUCH, memory + EDGE, BYTES - 2 * EDGE, TEST_OP);
}

static void expect_sent(const struct hold *hold)
{
    const char *sent = protect_hold_transfer_address(hold);
    check(sent != memory + EDGE, "MPI reads elsewhere");
    for (size_t i = 0; i < BYTES - 2 * EDGE; i++)
        check(sent[i] == 'o', "MPI reads what stood there at the call");
}

static void expect_memory(int step, size_t touched_bytes)
{
    for (size_t i = 0; i < BYTES; i++) {
        bool is_touched = i < touched_bytes && i % (size_t)step == 0;
        check(memory[i] == (is_touched ? 'w' : 'o'), "the memory is what the program made of it");
    }
}

static void write_some(int step, size_t touched_bytes)
{
    struct hold *hold = memory_hold();
    for (size_t i = 0; i < touched_bytes; i += (size_t)step)
        memory[i] = 'w';
    check(memory[BYTES - 1] == 'o', "what lies beside the buffer is there, too");
    check(!protect_armed_is_receiving(), "nothing is received: a fork need not wait");
    check(atomic_load(&touches_seen) == 0, "nobody waited");
    expect_sent(hold);
    protect_hold_release(hold);
    expect_memory(step, touched_bytes);
}

static void write_too_much(void)
{
    struct toucher toucher;
    struct hold *hold = memory_hold();
    size_t most_bytes = touched_most(BYTES - 2 * EDGE);
    memset(memory, 'w', most_bytes / PAGE * PAGE);
    toucher_start(&toucher, memory + most_bytes / PAGE * PAGE + PAGE, true, 'w');
    for (int i = 0; i < 100 && atomic_load(&touches_seen) == 0; i++)
        sleep_ms(WAIT_MS); /* a busy machine lets it begin late */
    sleep_ms(WAIT_MS);
    check(!atomic_load(&toucher.is_through), "one touch too many waits");
    check(atomic_load(&touches_seen) == 1 && atomic_load(&touched_op) == TEST_OP, "and is reported");
    memory[0] = memory[BYTES - 1] = 'w'; /* what lies beside the buffer never waits */
    expect_sent(hold);
    protect_hold_release(hold);
    toucher_join(&toucher);
    check(memory[0] == 'w' && memory[BYTES - 1] == 'w' && memory[most_bytes / PAGE * PAGE + PAGE] == 'w',
          "no write is lost");
}

static void fork_child(void)
{
    int status = 0;
    struct hold *hold = memory_hold();
    memset(memory + PAGE, 'w', 3 * PAGE);
    protect_fork_begin();
    pid_t child = fork();
    if (child == 0) {
        protect_inherit();
        check(memory[PAGE - 1] == 'o' && memory[PAGE] == 'w' && memory[4 * PAGE] == 'o', "a child has all pages");
        memset(memory, 'c', BYTES);
        _exit(0);
    }
    protect_fork_end();
    waitpid(child, &status, 0);
    check(status == 0, "the child is well");
    expect_sent(hold);
    protect_hold_release(hold);
    check(memory[PAGE] == 'w' && memory[4 * PAGE] == 'o', "and its parent is none the wiser");
}

static void never_ends(void)
{
    struct hold *hold = memory_hold();
    const char *sent = protect_hold_transfer_address(hold);
    memory[PAGE] = 'w';
    protect_hold_abandon(hold);
    memory[2 * PAGE] = 'w';
    check(memory[PAGE] == 'w' && memory[3 * PAGE] == 'o', "the program has its memory");
    check(sent[PAGE] == 'o' && sent[2 * PAGE] == 'o' && sent[3 * PAGE] == 'o', "and MPI the message");
}

static int mappings_count(void)
{
    int lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c = getc(maps); c != EOF; c = getc(maps))
        lines += c == '\n';
    fclose(maps);
    return lines;
}

int main(int argument_count, char **arguments)
{
    pthread_t engine;
    backend_start(argument_count, arguments);
    memory = memory_map(BYTES);
    if (!protect_copies_touched()) {
        struct hold *hold = NULL;
        check(protect_hold_arm(HOLD_COPY_ON_TOUCH, base_range_of(memory, BYTES), TEST_OP, &hold) != REASON_NONE,
              "a backend that cannot says so");
        return 0;
    }
    pthread_create(&engine, NULL, engine_run, NULL);
    write_some(1, PAGE);
    int mappings = mappings_count();
    for (int round = 0; round < ROUNDS; round++) {
        protect_threads_set(round % 2);
        write_some(1 + round * 37, 1 + (size_t)round * 1013 % (BYTES / 8 - PAGE)); /* half of what is copied at most */
    }
    write_too_much();
    fork_child();
    /* Stacks of threads, arenas, a sanitizer's: far fewer than one per round. */
    check(mappings_count() <= mappings + ROUNDS / 10, "no mapping is left behind");
    never_ends();
    atomic_store(&is_over, true);
    pthread_join(engine, NULL);
    return 0;
}
