/* SPDX-License-Identifier: MIT */
/* Claim: where a piece of the transit range is taken by somebody else, the hold
 * is refused, the memory and the other mapping are as they were, and threads at
 * work on neighbours go on. */
#include "hold_test.h"

enum { PAGE = 4096, BYTES = 32 * PAGE, OFFSET = 100 };

static _Atomic bool is_over;

static void *count_up(void *argument)
{
    volatile uint64_t *neighbour = argument;
    for (uint64_t count = 0; !atomic_load(&is_over); count++) {
        check(*neighbour == count, "a neighbour keeps its value");
        *neighbour = count + 1;
    }
    return NULL;
}

/* Where the hold would put this page. */
static char *transit_of(char *memory)
{
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, 1, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    protect_hold_release(hold);
    return transit;
}

static void refuse(char *memory, size_t taken_page)
{
    struct hold *hold = NULL;
    char *place = transit_of(memory) + taken_page * PAGE;
    char *other = mmap(place, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check(other == place, "the place in transit can be taken");
    other[7] = 'x';
    memset(memory + OFFSET, 'o', BYTES - 2 * OFFSET);
    struct range bytes = base_range_of(memory + OFFSET, BYTES - 2 * OFFSET);
    check(protect_hold_arm(HOLD_NO_ACCESS, bytes, TEST_OP, &hold) == REASON_MEMORY_FAILED, "the hold is refused");
    check(!protect_armed_is_any() && protect_armed_find(bytes, false) == 0, "nothing is armed");
    for (size_t i = OFFSET; i < BYTES - OFFSET; i++)
        check(memory[i] == 'o', "the memory is as it was");
    memset(memory + OFFSET, 'w', BYTES - 2 * OFFSET);
    check(other[7] == 'x', "the other mapping is as it was");
    munmap(other, PAGE);
}

int main(int argument_count, char **arguments)
{
    pthread_t threads[2];
    backend_start(argument_count, arguments);
    if (protect_holds_in_place()) {
        printf("skipped: nothing moves\n");
        return EXIT_SKIPPED;
    }
    char *memory = memory_map(BYTES);
    pthread_create(&threads[0], NULL, count_up, memory);
    pthread_create(&threads[1], NULL, count_up, memory + BYTES - 8);
    for (int round = 0; round < 200; round++) {
        protect_threads_set(true);
        refuse(memory, 0);
        refuse(memory, 10);
        refuse(memory, BYTES / PAGE - 1);
    }
    atomic_store(&is_over, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    protect_threads_set(false);
    refuse(memory, 0);
    refuse(memory, 10);
    return 0;
}
