/* SPDX-License-Identifier: MIT */
/* Claim: holds leave no seams: after 10,000 of them, with changing extents, the
 * process has as many mappings as before, and the memory can still be held. */
#include "hold_test.h"

enum { PAGE = 4096, ROUNDS = 10000, BYTES = 1 << 20 };

static int mapping_count(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    int count = 0;
    for (int byte = getc(maps); byte != EOF; byte = getc(maps))
        count += byte == '\n';
    fclose(maps);
    return count;
}

static void hold_somewhere(char *memory, unsigned *seed, bool is_receive)
{
    *seed = *seed * 1103515245 + 12345;
    size_t offset = *seed % (BYTES / 2);
    size_t length_bytes = 1 + (*seed >> 8) % (BYTES / 4);
    struct range bytes = base_range_of(memory + offset, length_bytes);
    check(protect_memory_check(bytes) == REASON_NONE, "the memory can be held again");
    struct hold *hold = hold_arm(is_receive ? HOLD_NO_ACCESS : HOLD_NO_WRITE, memory + offset, length_bytes, TEST_OP);
    struct hold *second = is_receive ? NULL : hold_arm(HOLD_NO_WRITE, memory + offset + length_bytes / 2, 9999, 8);
    if (is_receive)
        arrive((char *)protect_hold_transfer_address(hold) + length_bytes / 2, 'n', 1); /* a page may come in transit */
    memory[BYTES - 1 - *seed % (BYTES / 8)] = 'p';                                      /* and one beside the hold */
    protect_hold_release(hold);
    if (second != NULL)
        protect_hold_release(second);
}

static void hold_many(char *memory, const char *claim)
{
    unsigned seed = 1;
    hold_somewhere(memory, &seed, true); /* what the first ones allocate, and keep in reserve, may stay */
    hold_somewhere(memory, &seed, false);
    int before = mapping_count();
    for (int round = 0; round < ROUNDS; round++)
        hold_somewhere(memory, &seed, round % 2 == 0);
    int after = mapping_count();
    if (after > before)
        fprintf(stderr, "%d mappings before, %d after\n", before, after);
    check(after <= before, claim);
}

/* Between pages without access, so that it does not merge with memory that has pages. */
static char *memory_map_alone(void)
{
    char *memory = memory_map(BYTES + 2 * PAGE);
    mprotect(memory, PAGE, PROT_NONE);
    mprotect(memory + PAGE + BYTES, PAGE, PROT_NONE);
    return memory + PAGE;
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    free(malloc(100)); /* stdio's own memory exists before the count */
    mapping_count();
    char *written = memory_map_alone();
    memset(written, 'o', BYTES);
    hold_many(written, "no seams in memory with pages");
    hold_many(memory_map_alone(), "no seams in memory without pages");
    return 0;
}
