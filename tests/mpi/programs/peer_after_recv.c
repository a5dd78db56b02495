/* SPDX-License-Identifier: MIT */
/* Claim: who has received reaches the sender's process as that was when it sent: signals find its handler, and its
 * descriptors are taken as it left them.
 * defers: receive
 * quick: openmpi4 userfaultfd-user signal-1 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { SIGNAL_WAYS = 2, WAYS = 3, DESCRIPTOR = 700, PAUSE_US = 20000, TRIES = 100 };

static const int numbers[SIGNAL_WAYS] = {SIGUSR1, SIGUSR2};

static struct {
    pid_t process;
    int descriptor;
} peer;
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void prepare(int way)
{
    signals = 0;
    if (way < SIGNAL_WAYS)
        signal(numbers[way], count_signal);
    else
        check(dup2(0, DESCRIPTOR) == DESCRIPTOR, "a descriptor");
}

static bool reach(int way)
{
    if (way == 0)
        return kill(peer.process, numbers[way]) == 0;
    if (way == 1)
        return syscall(SYS_pidfd_send_signal, peer.descriptor, numbers[way], NULL, 0) == 0;
    return syscall(SYS_pidfd_getfd, peer.descriptor, DESCRIPTOR, 0) >= 0;
}

static bool is_reached(int way)
{
    for (int i = 0; i < TRIES; i++) {
        if (way >= SIGNAL_WAYS || signals == 1)
            return true;
        usleep(PAUSE_US);
    }
    return false;
}

static void meet(void)
{
    long own = getpid(), other;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    MPI_Sendrecv(&own, 1, MPI_LONG, 1 - check_rank(), 9, &other, 1, MPI_LONG, 1 - check_rank(), 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    peer.process = (pid_t)other;
    peer.descriptor = (int)syscall(SYS_pidfd_open, peer.process, 0);
}

/* Containers may forbid all but signals. */
static int ways_agree(void)
{
    int may_take = syscall(SYS_pidfd_getfd, peer.descriptor, 0, 0) >= 0;
    MPI_Bcast(&may_take, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return may_take ? WAYS : SIGNAL_WAYS;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    meet();
    int ways = ways_agree();
    for (int way = 0; way < ways; way++) {
        check_found_after_recv("the peer is as it was when it sent", way, prepare, reach, buffer, CHECK_LARGE_BYTES);
        check(check_rank() == 0 || is_reached(way), "it was reached");
    }
    return check_end();
}
