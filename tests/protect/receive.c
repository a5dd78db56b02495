/* SPDX-License-Identifier: MIT */
/* Claim: what MPI writes in transit stands in the buffer after the release, and
 * every byte that it did not write is as it was: for memory of every kind, for
 * any alignment, with and without other threads. */
#include "hold_test.h"

enum { SPACE_BYTES = 5 << 20 };

/* Whole pages of its own: in a program that is linked with the layer, the table
 * of holds lies in the same segment, and must never be held itself. */
static char bss_memory[SPACE_BYTES + 4096] __attribute__((aligned(4096)));

static char pattern(size_t index, char salt)
{
    return (char)(index * 31 + (index >> 12) + (unsigned char)salt);
}

static void fill(char *memory, char salt)
{
    for (size_t i = 0; i < SPACE_BYTES; i++)
        memory[i] = pattern(i, salt);
}

static void expect(const char *memory, size_t low, size_t high, char salt, const char *claim)
{
    for (size_t i = low; i < high; i++)
        check(memory[i] == pattern(i, salt), claim);
}

/* The message is shorter than the buffer by a third. */
static void receive(char *memory, size_t offset, size_t length_bytes)
{
    size_t arrived_bytes = length_bytes - length_bytes / 3;
    fill(memory, 1);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + offset, length_bytes, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    check(transit != memory + offset, "MPI writes elsewhere");
    for (size_t i = 0; i < arrived_bytes; i++)
        transit[i] = pattern(offset + i, 2);
    protect_hold_release(hold);
    expect(memory, 0, offset, 1, "bytes before the buffer are as they were");
    expect(memory, offset, offset + arrived_bytes, 2, "the message is in the buffer");
    expect(memory, offset + arrived_bytes, SPACE_BYTES, 1, "bytes after the message are as they were");
}

static void receive_every_shape(char *memory)
{
    static const size_t offsets[] = {0, 1, 16, 4095, 4096, 12345, (2 << 20) - 7};
    static const size_t lengths[] = {1, 4095, 4096, 4097, 8192, 65536, 100001, 2 << 20, (3 << 20) - 12346};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++)
            receive(memory, offsets[i], lengths[j]);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *huge = memory_map(2 * SPACE_BYTES);
    madvise(huge, 2 * SPACE_BYTES, MADV_HUGEPAGE);
    char *heap = sbrk(SPACE_BYTES + 4096); /* in the brk heap, not aligned */
    for (int several = 0; several < 2; several++) {
        protect_threads_set(several);
        receive_every_shape(huge);
        receive_every_shape(malloc(SPACE_BYTES));
        receive_every_shape(bss_memory);
        receive_every_shape(heap + 64);
    }
    return 0;
}
