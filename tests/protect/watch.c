/* SPDX-License-Identifier: MIT */
/* Claim: a watch tells the first touch of its bytes once, with the code that touched, and stops nobody: not
 * readers of a sent buffer, not neighbours on its pages, not threads that race for it. */
#include <sched.h>

#include "base/pages.h"
#include "hold_test.h"
#include "protect/watch.h"

enum { PAGE = 4096, THREADS = 4, ROUNDS = 300 };

static _Atomic int reported_watch;
static _Atomic uintptr_t reported_instruction;

static void note(int watch, uintptr_t address, const struct context_place *place)
{
    touched_note(TEST_OP, address);
    atomic_store(&reported_watch, watch);
    atomic_store(&reported_instruction, place->instruction);
}

static int watch(char *low, size_t length_bytes, bool forbids_reads)
{
    struct range bytes = base_range_of(low, length_bytes);
    struct watch_part part = {bytes, base_pages_of(bytes), forbids_reads};
    int taken = watch_take();
    atomic_store(&touches_seen, 0);
    check(taken != WATCH_NONE && watch_arm(taken, &part, 1), "a watch can be armed");
    return taken;
}

static void end(int taken, bool should_be_touched)
{
    bool is_touched;
    check(watch_claim(taken, &is_touched), "the watch can be claimed");
    check(is_touched == should_be_touched, "it knows whether it was touched");
    watch_free(taken);
}

__attribute__((noinline)) static char read_byte(const volatile char *address)
{
    return *address;
}

static void check_receive(char *memory)
{
    int taken = watch(memory + 100, 3 * PAGE, true);
    read_byte(memory + 99);
    check(atomic_load(&touches_seen) == 0, "a byte before the buffer, on its first page");
    read_byte(memory + 2 * PAGE);
    check(atomic_load(&touches_seen) == 1 && atomic_load(&reported_watch) == taken, "a read of a received byte");
    check(atomic_load(&touched_address) == (uintptr_t)memory + 2 * PAGE, "the address that was touched");
    uintptr_t from_start = atomic_load(&reported_instruction) - (uintptr_t)read_byte;
    check(from_start < 64, "the instruction that touched");
    memset(memory, 1, 4 * PAGE);
    check(atomic_load(&touches_seen) == 1, "only the first touch is told");
    end(taken, true);
}

static void check_send(char *memory)
{
    int taken = watch(memory, 2 * PAGE, false);
    read_byte(memory + PAGE);
    check(atomic_load(&touches_seen) == 0, "a read of a sent byte");
    check(watch_find(0, base_range_of(memory, 1), true) == WATCH_NONE, "a system call may read it");
    check(watch_find(0, base_range_of(memory, 1), false) == taken, "and not write it");
    memory[PAGE] = 3;
    check(atomic_load(&touches_seen) == 1 && memory[PAGE] == 3, "a write to a sent byte");
    end(taken, true);
}

static void check_untouched(char *memory)
{
    end(watch(memory, PAGE, true), false);
    check(atomic_load(&touches_seen) == 0 && !protect_armed_is_any(), "nothing is left behind");
    memory[0] = 1;
}

static void check_again(char *memory)
{
    struct watch_part part = {base_range_of(memory, PAGE), base_range_of(memory, PAGE), false};
    int taken = watch(memory, PAGE, false);
    bool is_touched;
    check(watch_claim(taken, &is_touched) && !is_touched, "the watch can be claimed");
    watch_take_again(taken);
    check(!protect_armed_is_any(), "nothing is watched meanwhile");
    check(watch_arm(taken, &part, 1), "it can be armed again");
    memory[0] = 1;
    check(atomic_load(&touches_seen) == 1, "a write while it is");
    end(taken, true);
}

static void check_limit(char *memory)
{
    int taken[WATCHES_MAX];
    for (int i = 0; i < WATCHES_MAX; i++)
        taken[i] = watch(memory + i * PAGE, PAGE, true);
    check(watch_take() == WATCH_NONE, "no more than WATCHES_MAX");
    for (int i = 0; i < WATCHES_MAX; i++)
        end(taken[i], false);
}

static char *raced;
static pthread_barrier_t begin, done;

static void *race(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&begin);
        read_byte(raced + (i % 4) * PAGE);
        pthread_barrier_wait(&done);
    }
    return unused;
}

static void check_race(char *memory)
{
    pthread_t threads[THREADS];
    raced = memory;
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, race, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int taken = watch(memory, 4 * PAGE, true);
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&done);
        check(atomic_load(&touches_seen) == 1, "of several threads, one is told");
        end(taken, true);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static _Atomic bool is_reporting, may_report;

static void note_slowly(int watch, uintptr_t address, const struct context_place *place)
{
    (void)watch, (void)address, (void)place;
    atomic_store(&is_reporting, true);
    while (!atomic_load(&may_report))
        sched_yield();
}

static void *touch_first(void *unused)
{
    read_byte(raced);
    return unused;
}

/* A system call on bytes that another thread touches, and has not opened yet. */
static void check_ending(char *memory)
{
    pthread_t thread;
    int ends[2];
    raced = memory;
    watch_report_to(note_slowly);
    int taken = watch(memory, PAGE, true);
    check(pipe(ends) == 0 && pthread_create(&thread, NULL, touch_first, NULL) == 0, "a pipe and a thread");
    while (!atomic_load(&is_reporting))
        sched_yield();
    check(watch_find(0, base_range_of(memory, 1), true) == WATCH_NONE, "it is not armed any more");
    watch_await_opening(base_range_of(memory, 1), true);
    check(write(ends[1], memory, 1) == 1, "the kernel may read it");
    atomic_store(&may_report, true);
    pthread_join(thread, NULL);
    end(taken, true);
}

static void touch_and_take_away(char *memory)
{
    watch_report_to(note);
    watch(memory, PAGE, true);
    read_byte(memory);
    mprotect(memory, PAGE, PROT_NONE);
    read_byte(memory);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    watch_report_to(note);
    char *memory = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_receive(memory);
    check_send(memory);
    check_untouched(memory);
    check_again(memory);
    check_limit(memory);
    check_race(memory);
    check_ending(memory);
    check(does_crash(touch_and_take_away, memory), "once it is open, the program's own fault is its own");
    protect_stop();
    return EXIT_SUCCESS;
}
