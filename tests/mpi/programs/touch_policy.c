/* SPDX-License-Identifier: MIT */
/* Claim: where memory is to come from (mbind), and how it will be read (posix_madvise), said of a buffer right after
 * its receive, is still known when the message is there.
 * defers: receive
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

/* linux/mempolicy.h */
enum { POLICY_BIND = 2, POLICY_OF_ADDRESS = 2, NODES = 64 };

static int policy_at(void *address)
{
    int policy = -1;
    check(syscall(SYS_get_mempolicy, &policy, NULL, 0UL, address, POLICY_OF_ADDRESS) == 0, "asking for the policy");
    return policy;
}

/* Do the kernel's flags of the mapping that begins there say so? */
static bool has_flag(const void *address, const char *flag)
{
    char line[512];
    unsigned long low = 0, high = 0;
    bool is_there = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "%lx-%lx ", &low, &high);
        bool is_asked = low <= (unsigned long)address && (unsigned long)address < high;
        is_there |= is_asked && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, flag) != NULL;
    }
    fclose(file);
    return is_there;
}

static unsigned char *buffer_new(void)
{
    void *buffer = mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memset(buffer, 0xEE, CHECK_LARGE_BYTES);
}

static void receive_and_advise(void)
{
    unsigned char *buffer = buffer_new();
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
    check(posix_madvise(buffer, CHECK_LARGE_BYTES, POSIX_MADV_RANDOM) == 0, "the advice");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the message");
    check(has_flag(buffer, " rr"), "the advice is kept");
}

static void receive_and_bind(void)
{
    unsigned char *buffer = buffer_new();
    unsigned long first_node = 1;
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 2);
    long result = syscall(SYS_mbind, buffer, (unsigned long)CHECK_LARGE_BYTES, POLICY_BIND, &first_node, NODES, 0);
    bool is_bound = result == 0; /* not: a kernel without NUMA, a container that refuses */
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 2), "the second message");
    check(!is_bound || policy_at(buffer) == POLICY_BIND, "the policy is kept");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check_rank() == 0) {
        receive_and_advise();
        receive_and_bind();
        return check_end();
    }
    unsigned char *buffer = buffer_new();
    for (int tag = 1; tag <= 2; tag++) {
        check_fill(buffer, CHECK_LARGE_BYTES, tag);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, tag);
    }
    return check_end();
}
