/* SPDX-License-Identifier: MIT */
/* Claim: the program's own SIGSEGV handling is what it would be without holds:
 * handlers get their faults with the right information and mask, may touch held
 * memory, and are not entered again before they return; one-shot handlers end
 * after one, and a fault without a handler kills. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "hold_test.h"

enum { BYTES = 65536 };

static sigjmp_buf back;
static siginfo_t seen;
static volatile sig_atomic_t faults;
static sigset_t mask_inside;
static char *forbidden;

static void handle_fault(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    seen = *info;
    faults++;
    pthread_sigmask(SIG_BLOCK, NULL, &mask_inside);
    siglongjmp(back, 1);
}

static void handle_plain(int signal_number)
{
    faults += signal_number == SIGSEGV;
    siglongjmp(back, 1);
}

/* As Lapwing's interposed sigaction() does. */
static void disposition_set(const struct sigaction *action, struct sigaction *before)
{
    if (protect_signal_disposition(action, before) == ENOSYS)
        check(sigaction(SIGSEGV, action, before) == 0, "sigaction");
}

static void fault_at(volatile char *address)
{
    if (sigsetjmp(back, 1) == 0)
        *address = 1;
}

/* A hold comes and goes first, so that a release is fresh in memory. */
static void hold_once(void)
{
    static char *memory;
    if (memory == NULL)
        memory = memory_map(BYTES);
    protect_hold_release(hold_arm(HOLD_NO_WRITE, memory, BYTES, TEST_OP));
}

static void check_handler_with_information(void)
{
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};
    struct sigaction now;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    disposition_set(&action, NULL);
    disposition_set(NULL, &now);
    check(now.sa_sigaction == handle_fault && (now.sa_flags & SA_SIGINFO), "sigaction tells what was set");
    check(sigismember(&now.sa_mask, SIGUSR1) == 1, "sigaction tells the mask that was set");
    for (int i = 1; i <= 3; i++) {
        hold_once();
        fault_at(forbidden + 17);
        check(faults == i, "a fault of the program reaches its handler once");
        check(seen.si_addr == forbidden + 17 && seen.si_code == SEGV_ACCERR, "with its address and code");
        check(sigismember(&mask_inside, SIGUSR1) == 1, "with the mask that it asked for");
    }
    fault_at((char *)8);
    check(seen.si_addr == (char *)8 && seen.si_code == SEGV_MAPERR, "an address without memory too");
    if (sigsetjmp(back, 1) == 0)
        raise(SIGSEGV);
    check(faults == 5 && seen.si_code == SI_TKILL, "a signal that was sent reaches the handler as such");
}

static void check_plain_handler(void)
{
    struct sigaction action = {.sa_handler = handle_plain, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction now;
    faults = 0;
    disposition_set(&action, NULL);
    hold_once();
    fault_at(forbidden);
    check(faults == 1, "a plain handler gets the fault");
    disposition_set(NULL, &now);
    check(now.sa_handler == SIG_DFL, "a one-shot handler is gone after one");
}

/* How a child ends that does `act`. */
static int status_of_child(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void act_fault(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    disposition_set(&action, NULL);
    *(volatile char *)forbidden = 1;
}

static void act_fault_ignored(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    disposition_set(&action, NULL);
    *(volatile char *)forbidden = 1;
}

static void act_raise(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    disposition_set(&action, NULL);
    raise(SIGSEGV);
}

static void act_raise_ignored(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    disposition_set(&action, NULL);
    raise(SIGSEGV);
}

static void check_deaths(void)
{
    int status = status_of_child(act_fault);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a fault without a handler kills");
    status = status_of_child(act_fault_ignored);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a fault cannot be ignored");
    status = status_of_child(act_raise);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a sent signal without a handler kills");
    status = status_of_child(act_raise_ignored);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a sent signal can be ignored");
}

static void handle_by_fault(int signal_number)
{
    (void)signal_number;
    if (faults++ > 0)
        _exit(1);
    *(volatile char *)forbidden = 1;
}

static void act_fault_twice(void)
{
    struct sigaction action = {.sa_handler = handle_by_fault};
    faults = 0;
    disposition_set(&action, NULL);
    *(volatile char *)forbidden = 1;
}

static void handle_by_raising(int signal_number)
{
    static int depth;
    if (depth++ > 0)
        _exit(1);
    if (faults++ == 0)
        raise(signal_number);
    depth--;
}

static void act_raise_twice(void)
{
    struct sigaction action = {.sa_handler = handle_by_raising};
    faults = 0;
    disposition_set(&action, NULL);
    raise(SIGSEGV);
    _exit(faults == 2 ? 0 : 2);
}

static void check_handler_alone(void)
{
    int status = status_of_child(act_fault_twice);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a fault of the handler's own kills");
    status = status_of_child(act_raise_twice);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a signal that the handler sends waits for its end");
}

static char *volatile held;
static volatile char held_value;

static void handle_by_touch(int signal_number)
{
    (void)signal_number;
    held_value = *held;
    siglongjmp(back, 1);
}

static void *release_soon(void *hold)
{
    sleep_ms(20);
    protect_hold_release(hold);
    return NULL;
}

static void check_touch_inside_handler(void)
{
    struct sigaction action = {.sa_handler = handle_by_touch};
    pthread_t releaser;
    disposition_set(&action, NULL);
    held = memory_map(BYTES);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, held, BYTES, TEST_OP);
    arrive(protect_hold_transfer_address(hold), 'h', 1);
    check(pthread_create(&releaser, NULL, release_soon, hold) == 0, "pthread_create");
    fault_at(forbidden);
    check(held_value == 'h', "a touch inside the handler waits");
    pthread_join(releaser, NULL);
}

/* With a handler of the program, a touch still waits. */
static void check_touch_beside_handler(void)
{
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};
    struct toucher toucher;
    char *memory = memory_map(BYTES);
    disposition_set(&action, NULL);
    faults = 0;
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, BYTES, TEST_OP);
    arrive(protect_hold_transfer_address(hold), 'n', 1);
    toucher_start(&toucher, memory, false, 0);
    sleep_ms(20);
    protect_hold_release(hold);
    toucher_join(&toucher);
    check(toucher.value == 'n' && faults == 0, "a touch is not the program's fault");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    forbidden = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_handler_with_information();
    check_plain_handler();
    check_touch_beside_handler();
    check_touch_inside_handler();
    check_handler_alone();
    check_deaths();
    return 0;
}
