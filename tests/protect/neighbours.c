/* SPDX-License-Identifier: MIT */
/* Claim: a thread that works on neighbours of a buffer, in its first and last
 * page, loses nothing while receives and sends of the buffer come and go. */
#include "hold_test.h"

enum { ROUNDS = 3000, BUFFER_OFFSET = 1000, BUFFER_BYTES = 40000, MEMORY_BYTES = 49152 };

static _Atomic bool is_over;
static char *memory;

/* Plain read, add, write, as the program would do it. */
static void *count_up(void *argument)
{
    volatile uint64_t *neighbour = argument;
    uint64_t count = 0;
    for (; !atomic_load(&is_over); count++) {
        check(*neighbour == count, "a neighbour keeps its value");
        *neighbour = count + 1;
    }
    return (void *)count;
}

static void hold_once(int round)
{
    char *buffer = memory + BUFFER_OFFSET;
    bool is_receive = round % 3 != 0;
    struct hold *hold = hold_arm(is_receive ? HOLD_NO_ACCESS : HOLD_NO_WRITE, buffer, BUFFER_BYTES, TEST_OP);
    if (is_receive)
        arrive(protect_hold_transfer_address(hold), round, BUFFER_BYTES);
    protect_hold_release(hold);
    if (is_receive)
        check(buffer[0] == (char)round && buffer[BUFFER_BYTES - 1] == (char)round, "the message is in the buffer");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    memory = memory_map(MEMORY_BYTES);
    pthread_t threads[2];
    uint64_t *neighbours[2] = {(uint64_t *)memory, (uint64_t *)(memory + 45000)};
    pthread_create(&threads[0], NULL, count_up, neighbours[0]);
    pthread_create(&threads[1], NULL, count_up, neighbours[1]);
    for (int round = 0; round < ROUNDS; round++)
        hold_once(round);
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++) {
        void *count;
        pthread_join(threads[i], &count);
        check(*neighbours[i] == (uint64_t)(uintptr_t)count, "a neighbour has its last value");
    }
    return 0;
}
