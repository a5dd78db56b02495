/* SPDX-License-Identifier: MIT */
/* Claim: memory that is sent again and again becomes huge pages, only where whole
 * ones fit, and keeps every byte; memory that is sent twice stays as it was. */
#include "hold_test.h"

enum { HUGE_BYTES = 2 << 20, LENGTH = 3 * HUGE_BYTES, PAGE = 4096, SENDS = 20, ADVICE_COLLAPSE = 25 };

/* Kilobytes of huge pages in the mapping that begins at `memory`. */
static long huge_kib(const char *memory)
{
    char line[256];
    char wanted[32];
    long kib = -1;
    bool is_inside = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    snprintf(wanted, sizeof wanted, "%lx-", (unsigned long)memory);
    while (fgets(line, sizeof line, maps) != NULL) {
        is_inside |= strncmp(line, wanted, strlen(wanted)) == 0;
        if (is_inside && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
            break;
    }
    fclose(maps);
    return kib;
}

/* A mapping of its own, so that smaps shows it alone: guard pages on both sides. Of small pages, also where the
 * system makes huge ones unasked (transparent_hugepage/enabled: always); they may become huge ones afterwards. */
static char *memory_alone(void)
{
    char *space = mmap(NULL, LENGTH + 2 * HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)space + 2 * HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
    check(mprotect(aligned, LENGTH, PROT_READ | PROT_WRITE) == 0, "mprotect");
    madvise(aligned, LENGTH, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < LENGTH; i++)
        aligned[i] = (char)(i * 7 + i / PAGE);
    madvise(aligned, LENGTH, MADV_HUGEPAGE);
    return aligned;
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

/* The kernel may refuse for the moment, three times in a row on a busy machine, and is not asked again for this memory:
 * then other memory is sent. */
static long send_until_huge(size_t offset)
{
    enum { ATTEMPTS = 5 };
    long kib = 0;
    for (int attempt = 0; attempt < ATTEMPTS && kib == 0; attempt++) {
        char *memory = memory_alone();
        send_often(memory + offset, LENGTH - offset, 2);
        check(huge_kib(memory) == 0, "what was sent twice is not worth it");
        send_often(memory + offset, LENGTH - offset, SENDS);
        kib = huge_kib(memory);
        expect_bytes(memory);
    }
    return kib;
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *probe = memory_alone();
    if (madvise(probe, HUGE_BYTES, ADVICE_COLLAPSE) != 0) {
        printf("skipped: this kernel makes no huge pages on demand\n");
        return EXIT_SKIPPED;
    }
    check(send_until_huge(0) == LENGTH >> 10, "what is sent again and again is");
    check(send_until_huge(PAGE) == (LENGTH - HUGE_BYTES) >> 10, "a page outside the buffer is left alone");
    return 0;
}
