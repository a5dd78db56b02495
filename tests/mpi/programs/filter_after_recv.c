/* SPDX-License-Identifier: MIT */
/* Claim: a filter that a program sets right after a receive, and that refuses what moves memory or lets others wait
 * for it, changes nothing for the message, nor for what is received and sent later. all: for every thread, by
 * seccomp(); own: for the calling one alone, by prctl(). kill: who makes that call is killed.
 * arguments: mremap_kill mprotect_kill ioctl_all ioctl_own mremap_all mremap_own mprotect_all mprotect_own madvise_all
 * variants: userfaultfd signal userfaultfd-1 signal-1
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3, TAG = 1 };

static const struct {
    const char *name;
    unsigned refused;
    bool is_for_all;
    bool is_killed;
} ways[] = {
    {"mremap_kill", SYS_mremap, true, true},     {"mprotect_kill", SYS_mprotect, false, true},
    {"ioctl_all", SYS_ioctl, true, false},       {"ioctl_own", SYS_ioctl, false, false},
    {"mremap_all", SYS_mremap, true, false},     {"mremap_own", SYS_mremap, false, false},
    {"mprotect_all", SYS_mprotect, true, false}, {"mprotect_own", SYS_mprotect, false, false},
    {"madvise_all", SYS_madvise, true, false},
};

static bool filter_set(unsigned refused, bool is_for_all, bool is_killed)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, is_killed ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (is_for_all)
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool filter_set_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return filter_set(ways[i].refused, ways[i].is_for_all, ways[i].is_killed);
    return false;
}

static void receive_and_filter(unsigned char *buffer, const char *name)
{
    check_recv(buffer, LENGTH, 1, TAG);
    bool is_set = filter_set_by_name(name);
    check(check_is_filled(buffer, LENGTH, 0), "the message");
    check(is_set, "the filter");
}

/* There and back; what was sent may still be under way when it is overwritten. */
static void exchange_later(unsigned char *buffer, unsigned seed)
{
    check_exchange_late(buffer, LENGTH, seed, TAG);
    if (check_rank() == 0)
        check_send(buffer, LENGTH, 1, TAG);
    else
        check_recv_late(buffer, LENGTH, seed, 0, TAG, "the message back");
    memset(buffer, 0xEE, LENGTH);
}

int main(int argc, char **argv)
{
    bool may_filter = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
    if (!may_filter)
        return check_skip("no filter can be set");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0)
        receive_and_filter(buffer, argv[1]);
    else
        check_send_late(buffer, LENGTH, 0, 0, TAG);
    for (unsigned seed = 1; seed <= ROUNDS; seed++)
        exchange_later(buffer, seed);
    return check_end();
}
