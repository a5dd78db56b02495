/* SPDX-License-Identifier: MIT */
/* Claim: what the program told the kernel about its memory (locks, advice, NUMA
 * policy, guard pages beside it) holds on through a hold of either kind. */
#include <errno.h>
#include <sys/syscall.h>

#include "hold_test.h"

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE, LINE_BYTES = 512 };

typedef void prepare_fn(char *memory);

static void leave(char *memory)
{
    (void)memory;
}

static void lock(char *memory)
{
    check(mlock(memory, BYTES) == 0, "mlock");
}

static void advise(char *memory)
{
    check(madvise(memory, BYTES, MADV_DONTDUMP) == 0 && madvise(memory, BYTES, MADV_DONTFORK) == 0, "madvise");
}

static void advise_huge_pages(char *memory)
{
    if (madvise(memory, BYTES, MADV_HUGEPAGE) != 0)
        printf("no transparent huge pages here\n");
}

/* Interleaved over node 0: a policy of its own on every machine. */
static void bind_to_node(char *memory)
{
    enum { INTERLEAVE = 3 };
    unsigned long nodes = 1;
    if (syscall(SYS_mbind, memory, (unsigned long)BYTES, INTERLEAVE, &nodes, 8UL, 0U) != 0)
        printf("no NUMA policies here: %s\n", strerror(errno));
}

static int policy_of(char *address)
{
    enum { OF_ADDRESS = 2 };
    int policy = -1;
    syscall(SYS_get_mempolicy, &policy, NULL, 0UL, address, OF_ADDRESS);
    return policy;
}

/* The line "VmFlags:" of the mapping that begins at `memory`, and its size. */
static void mapping_facts(const char *memory, char *facts)
{
    char line[LINE_BYTES];
    char first[32];
    bool is_inside = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    snprintf(first, sizeof first, "%lx-%lx ", (unsigned long)memory, (unsigned long)memory + BYTES);
    facts[0] = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strncmp(line, first, strlen(first)) == 0)
            is_inside = true;
        if (is_inside && (strncmp(line, "Locked:", 7) == 0 || strncmp(line, "VmFlags:", 8) == 0))
            strcat(facts, line);
        if (is_inside && strncmp(line, "VmFlags:", 8) == 0)
            break;
    }
    if (maps != NULL)
        fclose(maps);
}

static void hold_once(enum hold_kind kind, char *memory)
{
    struct hold *hold = hold_arm(kind, memory + 5 * PAGE + 100, 20 * PAGE, TEST_OP);
    if (kind == HOLD_NO_ACCESS)
        arrive(protect_hold_transfer_address(hold), 'n', 20 * PAGE);
    protect_hold_release(hold);
}

static void keep(prepare_fn *prepare, const char *name)
{
    char before[2 * LINE_BYTES];
    char after[2 * LINE_BYTES];
    char *memory = memory_map(BYTES + 2 * PAGE) + PAGE;
    mprotect(memory - PAGE, PAGE, PROT_NONE);
    mprotect(memory + BYTES, PAGE, PROT_NONE);
    memset(memory, 'o', BYTES);
    prepare(memory);
    mapping_facts(memory, before);
    check(before[0] != 0, "the mapping is one");
    int policy = policy_of(memory + 10 * PAGE);
    hold_once(HOLD_NO_ACCESS, memory);
    hold_once(HOLD_NO_WRITE, memory);
    mapping_facts(memory, after);
    if (strcmp(before, after) != 0)
        fprintf(stderr, "%s before:\n%safter:\n%s", name, before, after);
    check(strcmp(before, after) == 0, name);
    check(policy_of(memory + 10 * PAGE) == policy, "the NUMA policy is the same");
    munmap(memory - PAGE, BYTES + 2 * PAGE);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    keep(leave, "plain memory between guard pages");
    keep(advise, "advised memory");
    keep(advise_huge_pages, "memory that wants huge pages");
    keep(bind_to_node, "memory with a NUMA policy");
    keep(lock, "locked memory");
    return 0;
}
