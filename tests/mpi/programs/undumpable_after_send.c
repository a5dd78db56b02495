/* SPDX-License-Identifier: MIT */
/* Claim: a process may forbid others to look at its memory right after a send, though MPI lets the receiver read there.
 * Nor does that wait for a send whose request was freed, and whose receiver needs what is sent next.
 * arguments: function call freed
 * defers: send
 * timeout: 60
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 4 * CHECK_LARGE_BYTES };

/* Who has it may look at any process. */
static bool give_up_tracing(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    sets[0].effective &= ~(1U << CAP_SYS_PTRACE);
    sets[0].permitted &= ~(1U << CAP_SYS_PTRACE);
    return syscall(SYS_capset, &header, sets) == 0;
}

static void send_freed(unsigned char *buffer)
{
    MPI_Request request;
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

static void forbid(const char *way)
{
    bool is_done = strcmp(way, "call") == 0 ? syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
                                            : prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    check(is_done, "the flag");
}

static void permit(void)
{
    check(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "the flag again");
}

static void play_sender(const char *way, unsigned char *buffer)
{
    bool frees = strcmp(way, "freed") == 0;
    check_fill(buffer, LENGTH, 3);
    if (frees)
        send_freed(buffer);
    check_send(buffer, LENGTH, 1, 0);
    forbid(way);
    if (frees) {
        permit();
        check_send(buffer, LENGTH, 1, 2);
    }
}

static void play_receiver(const char *way, unsigned char *buffer)
{
    bool frees = strcmp(way, "freed") == 0;
    check_delay();
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, 3), "the message");
    if (frees) {
        check_recv(buffer, LENGTH, 0, 2);
        check_recv(buffer, LENGTH, 0, 1);
    }
}

int main(int argc, char **argv)
{
    if (!give_up_tracing())
        return check_skip("no capability can be given up");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0)
        play_sender(argv[1], buffer);
    else
        play_receiver(argv[1], buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    permit();
    return check_end();
}
