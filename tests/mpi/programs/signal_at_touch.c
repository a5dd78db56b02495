/* SPDX-License-Identifier: MIT */
/* Claim: signals are handled while the program waits at a touch, on the stack that they would have without Lapwing, and
 * the wait goes on.
 * defers: receive
 * arguments: restart interrupt nested alternate alternate_unused
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

enum { STACK_BYTES = 65536, ROOM_BYTES = 2 * STACK_BYTES };

static volatile int ticks;
static bool is_nested;

static void handle_urgent(int number)
{
    (void)number;
    ticks++;
}

static void handle_tick(int number)
{
    (void)number;
    volatile unsigned char room[ROOM_BYTES];
    for (int i = ROOM_BYTES - 1; i >= 0; i -= 4096)
        room[i] = 1;
    ticks += room[ROOM_BYTES - 1];
    if (is_nested)
        raise(SIGURG);
}

static void handle_fault(int number)
{
    (void)number;
    _exit(33);
}

/* Too small for the other handlers. Below it lies a page that nobody may touch. */
static void use_alternate_stack(bool has_handler)
{
    unsigned char *pages = mmap(NULL, STACK_BYTES + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, STACK_BYTES, PROT_READ | PROT_WRITE);
    stack_t stack = {.ss_sp = pages + 4096, .ss_size = STACK_BYTES};
    check(sigaltstack(&stack, NULL) == 0, "the stack");
    struct sigaction action = {.sa_handler = has_handler ? handle_fault : SIG_DFL, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 3);
        for (int i = 0; i < 10; i++)
            check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    if (strncmp(argv[1], "alternate", 9) == 0)
        use_alternate_stack(strcmp(argv[1], "alternate") == 0);
    is_nested = strcmp(argv[1], "nested") == 0;
    struct sigaction action = {.sa_handler = handle_tick};
    if (strcmp(argv[1], "restart") == 0)
        action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = handle_urgent;
    sigaction(SIGURG, &action, NULL);
    struct itimerval every = {{0, 10000}, {0, 10000}};
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    unsigned char first = *(volatile unsigned char *)buffer;
    setitimer(ITIMER_REAL, &never, NULL);
    check(first == check_byte(0, 3) && check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message");
    check(ticks >= 5, "the handler ran while the program waited");
    return check_end();
}
