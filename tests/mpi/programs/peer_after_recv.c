/* SPDX-License-Identifier: MIT */
/* Claim: who has received reaches the sender's process as that was when it sent: signals find its handler, its memory
 * is read and written and its descriptors are taken as it left them.
 * defers: receive
 * quick: userfaultfd-user signal-1 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { SIGNAL_WAYS = 2, WAYS = 5, OLD = 1, NEW = 42, DESCRIPTOR = 700, PAUSE_US = 20000, TRIES = 100 };

static const int numbers[SIGNAL_WAYS] = {SIGUSR1, SIGUSR2};

static struct {
    pid_t process;
    int descriptor;
    volatile int *word;
} peer;
static volatile int word = OLD;
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void prepare(int way)
{
    signals = 0;
    word = NEW;
    if (way < SIGNAL_WAYS)
        signal(numbers[way], count_signal);
    if (way == 4)
        check(dup2(0, DESCRIPTOR) == DESCRIPTOR, "a descriptor");
}

static bool copy(bool is_write, int *own)
{
    struct iovec here = {own, sizeof *own}, there = {(void *)peer.word, sizeof *own};
    ssize_t bytes = is_write ? process_vm_writev(peer.process, &here, 1, &there, 1, 0)
                             : process_vm_readv(peer.process, &here, 1, &there, 1, 0);
    return bytes == sizeof *own;
}

static bool reach(int way)
{
    int own = OLD;
    switch (way) {
    case 0:
        return sigqueue(peer.process, numbers[way], (union sigval){0}) == 0;
    case 1:
        return syscall(SYS_pidfd_send_signal, peer.descriptor, numbers[way], NULL, 0) == 0;
    case 2:
        return copy(false, &own) && own == NEW;
    case 3:
        return copy(true, &own);
    default:
        return syscall(SYS_pidfd_getfd, peer.descriptor, DESCRIPTOR, 0) >= 0;
    }
}

static bool is_reached(int way)
{
    for (int i = 0; i < TRIES; i++) {
        if (way < SIGNAL_WAYS ? signals == 1 : way != 3 || word == OLD)
            return true;
        usleep(PAUSE_US);
    }
    return false;
}

static void meet(void)
{
    long own[2] = {getpid(), (long)&word}, other[2];
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    MPI_Sendrecv(own, 2, MPI_LONG, 1 - check_rank(), 9, other, 2, MPI_LONG, 1 - check_rank(), 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    peer.process = (pid_t)other[0];
    peer.word = (volatile int *)other[1];
    peer.descriptor = (int)syscall(SYS_pidfd_open, peer.process, 0);
}

/* Containers may forbid all but signals. */
static int ways_agree(void)
{
    int own, may_copy = copy(false, &own);
    MPI_Bcast(&may_copy, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return may_copy ? WAYS : SIGNAL_WAYS;
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
