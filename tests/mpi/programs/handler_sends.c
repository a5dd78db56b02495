/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler may read a buffer while sends of it begin, with copies on touch as well.
 * environment: LAPWING_SEND_BUFFERS=copy-touched
 * timeout: 30
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

enum { SENDS = 300, TICK_US = 100 };

static unsigned char *buffer;
static volatile unsigned wrong_count;

static void handle_tick(int number)
{
    (void)number;
    wrong_count += buffer[CHECK_LARGE_BYTES / 2] != check_byte(CHECK_LARGE_BYTES / 2, 1);
}

int main(int argc, char **argv)
{
    struct itimerval interval = {{0, TICK_US}, {0, TICK_US}};
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(buffer, CHECK_LARGE_BYTES, 1);
    if (check_rank() == 0) {
        signal(SIGALRM, handle_tick);
        setitimer(ITIMER_REAL, &interval, NULL);
    }
    for (int i = 0; i < SENDS; i++)
        check_rank() == 0 ? check_send(buffer, CHECK_LARGE_BYTES, 1, i) : check_recv(buffer, CHECK_LARGE_BYTES, 0, i);
    interval.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &interval, NULL);
    check(wrong_count == 0, "a handler reads what is being sent");
    return check_end();
}
