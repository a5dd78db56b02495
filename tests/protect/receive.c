/* SPDX-License-Identifier: MIT */
/* Claim: what MPI writes in transit stands in the buffer after the release, and
 * every byte that it did not write is as it was: for memory of every kind, for
 * any alignment, with and without other threads; also where the program got its
 * pages back when half of the message had come, and wrote beside it. */
#include "base/pages.h"
#include "hold_test.h"

enum { SPACE_BYTES = 5 << 20 };

/* Whole pages of its own: in a program that is linked with the layer, the table
 * of holds lies in the same segment, and must never be held itself. */
static char bss_memory[SPACE_BYTES + 4096] __attribute__((aligned(4096)));

/* What memory looks like before a message, and what a message looks like. */
static char image_before[SPACE_BYTES];
static char image_message[SPACE_BYTES];

static void images_make(void)
{
    for (size_t i = 0; i < SPACE_BYTES; i++) {
        image_before[i] = (char)(i * 31 + (i >> 12));
        image_message[i] = (char)~image_before[i];
    }
}

static void expect(const char *memory, const char *image, size_t low, size_t high, const char *claim)
{
    check(memcmp(memory + low, image + low, high - low) == 0, claim);
}

static void check_message(const char *memory, size_t offset, size_t end)
{
    expect(memory, image_before, 0, offset, "bytes before the buffer are as they were");
    expect(memory, image_message, offset, end, "the message is in the buffer");
    expect(memory, image_before, end, SPACE_BYTES, "bytes after the message are as they were");
}

static void arrive_message(char *transit, const char *image, size_t length_bytes)
{
    inside_begin();
    memcpy(transit, image, length_bytes);
    inside_end();
}

static void receive_parted(char *memory, size_t offset, size_t length_bytes)
{
    size_t half_bytes = length_bytes / 2;
    memcpy(memory, image_message, SPACE_BYTES);
    memcpy(memory + offset, image_before + offset, length_bytes);
    void *room = protect_hold_room_take(base_pages_of(base_range_of(memory + offset, length_bytes)));
    check(room != NULL, "room for a copy");
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + offset, length_bytes, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    arrive_message(transit, image_message + offset, half_bytes);
    check(protect_hold_part(hold, room), "the pages are given back");
    memcpy(memory, image_before, offset);
    memcpy(memory + offset + length_bytes, image_before + offset + length_bytes, SPACE_BYTES - offset - length_bytes);
    arrive_message(transit + half_bytes, image_message + offset + half_bytes, length_bytes - half_bytes);
    protect_hold_join(base_range_of(memory + offset, length_bytes));
    check_message(memory, offset, offset + length_bytes);
}

/* The message is shorter than the buffer by a third. */
static void receive(char *memory, size_t offset, size_t length_bytes)
{
    size_t arrived_bytes = length_bytes - length_bytes / 3;
    size_t end = offset + arrived_bytes;
    memcpy(memory, image_before, SPACE_BYTES);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + offset, length_bytes, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    check((transit == memory + offset) == protect_holds_in_place(), "MPI writes elsewhere, or in place");
    arrive_message(transit, image_message + offset, arrived_bytes);
    protect_hold_release(hold);
    check_message(memory, offset, end);
}

static void receive_every_shape(char *memory)
{
    static const size_t offsets[] = {0, 1, 16, 4095, 4096, 12345, (2 << 20) - 7};
    static const size_t lengths[] = {1, 4095, 4096, 4097, 8192, 65536, 100001, 2 << 20, (3 << 20) - 12346};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
            receive(memory, offsets[i], lengths[j]);
            receive_parted(memory, offsets[i], lengths[j]);
        }
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    images_make();
    char *block = malloc(SPACE_BYTES);
    char *huge = memory_map(2 * SPACE_BYTES);
    madvise(huge, 2 * SPACE_BYTES, MADV_HUGEPAGE);
    char *heap = sbrk(SPACE_BYTES + 4096); /* in the brk heap, not aligned */
    for (int several = 0; several < 2; several++) {
        protect_threads_set(several);
        receive_every_shape(huge);
        receive_every_shape(block);
        receive_every_shape(bss_memory);
        receive_every_shape(heap + 64);
    }
    free(block);
    return 0;
}
