/* SPDX-License-Identifier: MIT */
/* Claim: a process may forbid others to look at its memory right after a send, though MPI lets the receiver read there.
 * arguments: function call
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

static void forbid(const char *way)
{
    bool is_done = strcmp(way, "call") == 0 ? syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
                                            : prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    check(is_done, "the flag");
}

int main(int argc, char **argv)
{
    if (!give_up_tracing())
        return check_skip("no capability can be given up");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH, 3);
        check_send(buffer, LENGTH, 1, 0);
        forbid(argv[1]);
    } else {
        check_delay();
        check_recv(buffer, LENGTH, 0, 0);
        check(check_is_filled(buffer, LENGTH, 3), "the message");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return check_end();
}
