/* SPDX-License-Identifier: MIT */
/* Claim: where the kernel refuses for want of memory to move data home, a process waits for a second in all, however
 * many pages there are, and gets them or ends with a line; what will not pass it does not wait for. The line says what
 * may be wrong: memory, or a filter. So it is where the kernel lets nobody go who waits. Pages that the kernel does not
 * unregister after a refused hold are open all the same, even those that were never populated. */
#include "hold_test.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "system_calls.h"

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE, DONTUNMAP = 4 };

/* error: of each mremap, until the process has paused as often since the last one that moved a page; 0: none.
 * stays: this page neither moves out nor is it unregistered. wakes_nobody: with this error; 0: it does. */
static struct {
    uintptr_t stays;
    int wakes_nobody;
    int error;
    int wanted_pauses;
    int pauses;
    int *all_pauses; /* shared with the parent */
} kernel;

static bool is_refused_for_good(long number, const long *arguments)
{
    if (number == SYS_ioctl)
        return kernel.stays != 0 && (unsigned long)arguments[1] == UFFDIO_UNREGISTER;
    return number == SYS_mremap && kernel.stays != 0 && (uintptr_t)arguments[0] == kernel.stays &&
           (arguments[3] & DONTUNMAP);
}

static bool is_wake(long number, const long *arguments)
{
    return number == SYS_ioctl && (unsigned long)arguments[1] == UFFDIO_WAKE;
}

static bool is_refused_for_now(long number, const long *arguments)
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

static long system_calls_answer(long number, const long *arguments)
{
    bool is_for_good = is_refused_for_good(number, arguments);
    if (kernel.wakes_nobody != 0 && is_wake(number, arguments)) {
        errno = kernel.wakes_nobody;
        return -1;
    }
    if (!is_for_good && !is_refused_for_now(number, arguments))
        return system_calls_real(number, arguments);
    errno = is_for_good ? ENOMEM : kernel.error;
    return -1;
}

static void receive(int error, int wanted_pauses)
{
    char *memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    arrive(protect_hold_transfer_address(hold), 'n', BYTES);
    kernel.error = error;
    kernel.wanted_pauses = wanted_pauses;
    protect_hold_release(hold);
    for (size_t i = 0; i < BYTES; i++)
        check(memory[i] == 'n', "the data are home");
}

static char line[512]; /* what that process wrote last as an error */

static void line_read(int descriptor)
{
    ssize_t length = read(descriptor, line, sizeof(line) - 1);
    line[length < 0 ? 0 : length] = '\0';
    close(descriptor);
}

/* How a process ended in which the kernel refuses so often. */
static int status_of(int argument_count, char **arguments, int error, int wanted_pauses)
{
    int status = 0;
    int ends[2];
    *kernel.all_pauses = 0;
    check(pipe(ends) == 0, "a pipe");
    if (fork() == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        backend_start(argument_count, arguments);
        if (protect_holds_in_place()) {
            printf("skipped: nothing moves\n");
            fflush(stdout);
            _exit(EXIT_SKIPPED);
        }
        receive(error, wanted_pauses);
        _exit(0);
    }
    close(ends[1]);
    check(wait(&status) > 0, "a process");
    line_read(ends[0]);
    return status;
}

static bool is_aborted(int status, const char *cause)
{
    bool is_told = strncmp(line, "lapwing: ", 9) == 0 && strstr(line, cause) != NULL;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && is_told;
}

/* Only userfaultfd has anybody to wake. */
static void wakes_refused(int argument_count, char **arguments)
{
    kernel.wakes_nobody = EPERM;
    int status = status_of(argument_count, arguments, 0, 0);
    bool is_userfault = strncmp(arguments[1], "userfaultfd", 11) == 0;
    check(is_userfault ? is_aborted(status, "filter") : status == 0, "it does not sleep for ever");
    kernel.wakes_nobody = 0;
}

/* Its last page is registered when the kernel refuses to move it, and was never populated. */
static void hold_refused(void)
{
    enum { OFFSET = 100, TRIES = 100 };
    struct toucher toucher;
    struct hold *hold = NULL;
    char *memory = memory_map(BYTES);
    kernel.stays = (uintptr_t)memory + BYTES - PAGE;
    protect_threads_set(true);
    struct range bytes = base_range_of(memory + OFFSET, BYTES - 2 * OFFSET);
    check(protect_hold_arm(HOLD_NO_ACCESS, bytes, TEST_OP, &hold) == REASON_MEMORY_FAILED, "the hold is refused");
    toucher_start(&toucher, memory + BYTES - 1, true, 'w');
    for (int i = 0; i < TRIES && !atomic_load(&toucher.is_through); i++) {
        protect_hold_events_read();
        sleep_ms(10);
    }
    check(atomic_load(&toucher.is_through), "a touch of a page that nobody holds goes on");
    toucher_join(&toucher);
    for (size_t i = 0; i < BYTES - 1; i++)
        check(memory[i] == 0, "memory that nobody wrote is zero");
    check(memory[BYTES - 1] == 'w', "the write is there");
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
    check(is_aborted(status, "memory)") && *kernel.all_pauses <= A_SECOND,
          "it waits for a second, not for a second per page");
    status = status_of(argument_count, arguments, EINVAL, FEW);
    check(is_aborted(status, "(errno 22)") && *kernel.all_pauses == 0, "it does not wait for what will not pass");
    status = status_of(argument_count, arguments, EPERM, FEW);
    check(is_aborted(status, "filter") && *kernel.all_pauses == 0, "nor for what a filter refuses");
    wakes_refused(argument_count, arguments);
    backend_start(argument_count, arguments);
    hold_refused();
    return 0;
}
