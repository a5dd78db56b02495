/* SPDX-License-Identifier: MIT */
/* Claim: where the kernel refuses for want of memory to move data home, a process waits for a second in all, however
 * many pages there are, and gets them or ends with a line; what will not pass it does not wait for. */
#include "hold_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE };

/* error: of each mremap, until the process has paused as often since the last one that moved a page; 0: none. */
static struct {
    int error;
    int wanted_pauses;
    int pauses;
    int *all_pauses; /* shared with the parent */
} kernel;

static bool is_refused(long number, const long *arguments)
{
    if (number == SYS_nanosleep) {
        kernel.pauses++;
        (*kernel.all_pauses)++;
    }
    if (number != SYS_mremap || kernel.error == 0)
        return false;
    bool is_moved = arguments[1] == PAGE && kernel.pauses >= kernel.wanted_pauses;
    if (is_moved)
        kernel.pauses = 0;
    return !is_moved;
}

/* Stands before libc's: all system calls of the protect layer go through it. */
long syscall(long number, ...)
{
    enum { ARGUMENTS = 6 };
    static long (*real)(long number, ...);
    long of[ARGUMENTS];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++)
        of[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (!is_refused(number, of))
        return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    errno = kernel.error;
    return -1;
}

static void receive(int error, int wanted_pauses)
{
    char *memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    memset(protect_hold_transfer_address(hold), 'n', BYTES);
    kernel.error = error;
    kernel.wanted_pauses = wanted_pauses;
    protect_hold_release(hold);
    for (size_t i = 0; i < BYTES; i++)
        check(memory[i] == 'n', "the data are home");
}

/* How a process ended in which the kernel refuses so often. */
static int status_of(int argument_count, char **arguments, int error, int wanted_pauses)
{
    int status = 0;
    *kernel.all_pauses = 0;
    if (fork() == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        backend_start(argument_count, arguments);
        receive(error, wanted_pauses);
        _exit(0);
    }
    check(wait(&status) > 0, "a process");
    return status;
}

static bool is_aborted(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main(int argument_count, char **arguments)
{
    enum { FEW = 2, MANY = 100, A_SECOND = 1000 };
    kernel.all_pauses = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(kernel.all_pauses != MAP_FAILED, "mmap");
    int status = status_of(argument_count, arguments, ENOMEM, FEW);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
        return EXIT_SKIPPED;
    check(status == 0 && *kernel.all_pauses == FEW * PAGES, "it waits for memory");
    status = status_of(argument_count, arguments, ENOMEM, MANY);
    check(is_aborted(status) && *kernel.all_pauses <= A_SECOND, "it waits for a second, not for a second per page");
    status = status_of(argument_count, arguments, EINVAL, FEW);
    check(is_aborted(status) && *kernel.all_pauses == 0, "it does not wait for what will not pass");
    return 0;
}
