/* SPDX-License-Identifier: MIT */
/* Claim: the engine also sleeps where a filter refuses epoll_pwait2 with EPERM, as those of containers do that are
 * older than this system call; and it asks once. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/sockets.h"

enum { SLEEP_NS = 20000000, ROUNDS = 3 };

static bool filter_set(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(void)
{
    if (!filter_set()) {
        puts("skip: no filter can be set");
        return 77;
    }
    claim(engine_sockets_open(), "the sets");
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = now_ns();
        claim(engine_sockets_sleep(SLEEP_NS) == ENGINE_EVENT_NONE, "nothing happens");
        claim(now_ns() - begin_ns >= SLEEP_NS, "it sleeps as long as it was told");
    }
    engine_sockets_discard();
    return 0;
}
