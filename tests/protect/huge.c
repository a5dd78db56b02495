/* SPDX-License-Identifier: MIT */
/* Claim: memory that is sent again and again becomes huge pages, only where whole
 * ones fit, and keeps every byte; memory that is sent twice stays as it was, and pages that do not exist are not made.
 */
#include "hold_test.h"

enum { HUGE_BYTES = 2 << 20, LENGTH = 3 * HUGE_BYTES, PAGE = 4096, SENDS = 20, ADVICE_COLLAPSE = 25 };

/* What /proc/self/smaps says of the mapping that begins at `memory`, in kilobytes. */
static long smaps_kib(const char *memory, const char *what)
{
    char line[256];
    char wanted[32];
    size_t what_length = strlen(what);
    long kib = -1;
    bool is_inside = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    snprintf(wanted, sizeof wanted, "%lx-", (unsigned long)memory);
    while (fgets(line, sizeof line, maps) != NULL) {
        is_inside |= strncmp(line, wanted, strlen(wanted)) == 0;
        if (is_inside && strncmp(line, what, what_length) == 0 && sscanf(line + what_length, "%ld kB", &kib) == 1)
            break;
    }
    fclose(maps);
    return kib;
}

static long huge_kib(const char *memory)
{
    return smaps_kib(memory, "AnonHugePages:");
}

/* A mapping of its own, so that smaps shows it alone: guard pages on both sides. Of small pages, also where the
 * system makes huge ones unasked (transparent_hugepage/enabled: always); they may become huge ones afterwards. */
static char *memory_alone_untouched(void)
{
    char *space = mmap(NULL, LENGTH + 2 * HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)space + 2 * HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
    check(mprotect(aligned, LENGTH, PROT_READ | PROT_WRITE) == 0, "mprotect");
    madvise(aligned, LENGTH, MADV_NOHUGEPAGE);
    return aligned;
}

static char *memory_alone(void)
{
    char *memory = memory_alone_untouched();
    for (size_t i = 0; i < LENGTH; i++)
        memory[i] = (char)(i * 7 + i / PAGE);
    madvise(memory, LENGTH, MADV_HUGEPAGE);
    return memory;
}

static void expect_bytes(const char *memory)
{
    for (size_t i = 0; i < LENGTH; i++)
        check(memory[i] == (char)(i * 7 + i / PAGE), "every byte is kept");
}

static void send_often(char *memory, size_t length_bytes, int times)
{
    for (int i = 0; i < times; i++)
        protect_hold_release(hold_arm(HOLD_NO_WRITE, memory, length_bytes, TEST_OP));
}

/* The kernel may refuse some of it for the moment, three times in a row on a busy machine, and is not asked again for
 * this memory: then other memory is sent. */
static long send_until_huge(size_t offset, long wanted_kib)
{
    enum { ATTEMPTS = 5 };
    long kib = 0;
    for (int attempt = 0; attempt < ATTEMPTS && kib < wanted_kib; attempt++) {
        char *memory = memory_alone();
        send_often(memory + offset, LENGTH - offset, 2);
        check(huge_kib(memory) == 0, "what was sent twice is not worth it");
        send_often(memory + offset, LENGTH - offset, SENDS);
        kib = huge_kib(memory);
        expect_bytes(memory);
    }
    return kib;
}

/* One page in eight has been written, one has been read, as what sends it does. Are pages made? */
static bool sparse_is_filled(void)
{
    char *memory = memory_alone_untouched();
    for (size_t i = 0; i < LENGTH; i += 8 * PAGE) {
        memory[i] = 'w';
        check(*(volatile char *)(memory + i + PAGE) == 0, "nothing was written there");
    }
    madvise(memory, LENGTH, MADV_HUGEPAGE);
    long before_kib = smaps_kib(memory, "Anonymous:");
    send_often(memory, LENGTH, SENDS);
    bool is_filled = huge_kib(memory) != 0 || smaps_kib(memory, "Anonymous:") != before_kib;
    check(memory[8 * PAGE] == 'w' && memory[9 * PAGE] == 0, "every byte is kept");
    munmap(memory, LENGTH);
    return is_filled;
}

/* The kernel's own khugepaged makes huge pages, too, now and then. */
static void send_sparse(void)
{
    enum { ATTEMPTS = 5 };
    bool is_filled = true;
    for (int attempt = 0; attempt < ATTEMPTS && is_filled; attempt++)
        is_filled = sparse_is_filled();
    check(!is_filled, "no page is made");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *probe = memory_alone();
    if (madvise(probe, HUGE_BYTES, ADVICE_COLLAPSE) != 0) {
        printf("skipped: this kernel makes no huge pages on demand\n");
        return EXIT_SKIPPED;
    }
    send_sparse();
    long all_kib = LENGTH >> 10, inner_kib = (LENGTH - HUGE_BYTES) >> 10;
    check(send_until_huge(0, all_kib) == all_kib, "what is sent again and again is");
    check(send_until_huge(PAGE, inner_kib) == inner_kib, "a page outside the buffer is left alone");
    return 0;
}
