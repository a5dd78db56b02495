/* SPDX-License-Identifier: MIT */
/* Claim: code that has just been sent or received runs where it lies, also while the message is under way.
 * arguments: sent received
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"

enum { CODE_BYTES = 256 };

static __attribute__((noinline, noclone)) int answer(int number)
{
    return number * 3 + 1;
}

/* Memory for code that also holds data, as just-in-time compilers have it; NULL where that is forbidden. */
static unsigned char *code_memory(void)
{
    enum { RIGHTS = PROT_READ | PROT_WRITE | PROT_EXEC, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    unsigned char *memory = mmap(NULL, CHECK_LARGE_BYTES, RIGHTS, FLAGS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void code_run(unsigned char *memory)
{
    int (*code)(int);
    __builtin___clear_cache((char *)memory, (char *)memory + CODE_BYTES);
    memcpy(&code, &memory, sizeof code);
    check(code(5) == 16, "the code runs");
}

static void code_send(unsigned char *memory, bool is_run)
{
    memcpy(memory, (const void *)answer, CODE_BYTES);
    check_send(memory, CHECK_LARGE_BYTES, 0, 0);
    if (is_run)
        code_run(memory);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_sender_first = strcmp(argv[1], "sent") == 0;
    unsigned char *memory = code_memory();
    if (memory == NULL) {
        printf("no memory may be executable and writable here\n");
        MPI_Finalize();
        return 77;
    }
    for (int round = 0; round < 3; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if ((check_rank() == 0) == is_sender_first)
            check_delay(); /* the other one's message stays under way */
        if (check_rank() == 1) {
            code_send(memory, is_sender_first);
            continue;
        }
        check_recv(memory, CHECK_LARGE_BYTES, 1, 0);
        code_run(memory);
    }
    return check_end();
}
