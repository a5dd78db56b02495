/* SPDX-License-Identifier: MIT */
/* Claim: guard pages between those of a hold (MADV_GUARD_INSTALL, Linux 6.13), which end who reads them, hinder nobody:
 * what lies around them is held, arrives and is home afterwards, and stays with MPI where a transfer never ends; the
 * guards stay. Also where userfaultfd protects no pages that are not there (before Linux 6.4, or where the kernel is
 * built so): a send may be refused then. */
#include "hold_test.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "protect/kernel.h"
#include "system_calls.h"

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE, GUARD_LOW = 20 * PAGE, GUARD_HIGH = 24 * PAGE };
enum { GUARD_INSTALL = 102, WP_UNPOPULATED = 1 << 13 }; /* newer than Debian 12's headers */

static bool is_old;
static _Atomic bool is_over;

static long system_calls_answer(long number, const long *arguments)
{
    long result = system_calls_real(number, arguments);
    if (is_old && number == SYS_ioctl && (unsigned long)arguments[1] == UFFDIO_API)
        ((struct uffdio_api *)arguments[2])->features &= ~(uint64_t)WP_UNPOPULATED;
    return result;
}

static bool is_guard(size_t at)
{
    return GUARD_LOW <= at && at < GUARD_HIGH;
}

static char *memory_make(void)
{
    char *memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    if (madvise(memory + GUARD_LOW, GUARD_HIGH - GUARD_LOW, GUARD_INSTALL) == 0)
        return memory;
    printf("skipped: this kernel has no guard pages\n");
    fflush(stdout);
    _exit(EXIT_SKIPPED);
}

static void expect_around(const char *bytes, char value, const char *claim)
{
    for (size_t i = 0; i < BYTES; i++)
        check(is_guard(i) || bytes[i] == value, claim);
}

static void expect_guards(const char *memory)
{
    char byte;
    for (size_t i = GUARD_LOW; i < GUARD_HIGH; i += PAGE)
        check(!kernel_copy(&byte, (uintptr_t)memory + i, 1), "guards stay");
}

static void receive(void)
{
    char *memory = memory_make();
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    arrive(transit, 'n', GUARD_LOW);
    arrive(transit + GUARD_HIGH, 'n', BYTES - GUARD_HIGH);
    protect_hold_release(hold);
    expect_around(memory, 'n', "the data are home");
    expect_guards(memory);
}

static void send(void)
{
    struct hold *hold = NULL;
    struct toucher toucher;
    char *memory = memory_make();
    enum reason reason = protect_hold_arm(HOLD_NO_WRITE, base_range_of(memory, BYTES), TEST_OP, &hold);
    check(reason == REASON_NONE || is_old, "what is sent is held");
    expect_around(memory, 'o', "what is sent can be read");
    toucher_start(&toucher, memory + GUARD_HIGH, true, 'w');
    sleep_ms(30);
    check(atomic_load(&toucher.is_through) == (hold == NULL), "a write waits where pages are held");
    if (hold != NULL)
        protect_hold_release(hold);
    toucher_join(&toucher);
    check(memory[GUARD_HIGH] == 'w', "and happens");
    expect_guards(memory);
}

static void *engine_run(void *unused)
{
    while (!atomic_load(&is_over))
        protect_hold_events_read();
    return unused;
}

static void send_touched(bool has_end)
{
    pthread_t engine;
    char *memory = memory_make();
    atomic_store(&is_over, false);
    pthread_create(&engine, NULL, engine_run, NULL);
    struct hold *hold = hold_arm(HOLD_COPY_ON_TOUCH, memory, BYTES, TEST_OP);
    const char *sent = protect_hold_transfer_address(hold);
    memory[GUARD_LOW - PAGE] = 'w';
    if (has_end)
        expect_around(sent, 'o', "MPI reads what stood there at the call");
    if (has_end)
        protect_hold_release(hold);
    else
        protect_hold_abandon(hold);
    if (!has_end)
        expect_around(sent, 'o', "MPI keeps what it may go on to read");
    check(memory[GUARD_LOW - PAGE] == 'w', "the program's write is there");
    memory[GUARD_LOW - PAGE] = 'o';
    expect_around(memory, 'o', "and all else");
    expect_guards(memory);
    atomic_store(&is_over, true);
    pthread_join(engine, NULL);
}

static int play(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    receive();
    send();
    if (protect_copies_touched()) {
        send_touched(true);
        send_touched(false);
    }
    return 0;
}

int main(int argument_count, char **arguments)
{
    int status = 0;
    is_old = true;
    if (fork() == 0)
        exit(play(argument_count, arguments));
    check(wait(&status) > 0, "a process");
    check(WIFEXITED(status), "nobody reads a guard page");
    if (WEXITSTATUS(status) != 0)
        return WEXITSTATUS(status);
    is_old = false;
    return play(argument_count, arguments);
}
