/* SPDX-License-Identifier: MIT */
/* Claim: signals are handled while the program waits at a touch, and the wait goes on.
 * defers: receive
 * arguments: restart interrupt nested
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

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
    ticks++;
    if (is_nested)
        raise(SIGURG);
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
