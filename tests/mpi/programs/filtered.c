/* SPDX-License-Identifier: MIT */
/* Claim: where a filter refuses system calls for good, as those of containers do, messages of a MiB arrive as with MPI
 * by itself: there and back, both at once, nonblocking, with gaps, and into a block that has grown.
 * arguments: userfaultfd mremap process_vm_readv docker all
 * variants: userfaultfd signal userfaultfd-1 signal-1
 * defers: send
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, HALF = LENGTH / 2, ROUNDS = 3, REFUSED_MAX = 12, BLOCK = 64 };

/* docker: those of Moby's default profile (profiles/seccomp) that libraries below an MPI may try. */
static const struct {
    const char *name;
    unsigned refused[REFUSED_MAX];
} filters[] = {
    {"userfaultfd", {SYS_userfaultfd}},
    {"mremap", {SYS_mremap}},
    {"process_vm_readv", {SYS_process_vm_readv, SYS_process_vm_writev}},
    {"docker",
     {SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_perf_event_open, SYS_bpf,
      SYS_mbind, SYS_set_mempolicy, SYS_move_pages, SYS_add_key, SYS_kcmp}},
    {"all",
     {SYS_userfaultfd, SYS_mremap, SYS_process_vm_readv, SYS_process_vm_writev, SYS_io_uring_setup, SYS_madvise,
      SYS_get_robust_list, SYS_epoll_pwait2}},
};

static const unsigned *refused_find(const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return filters[i].refused;
    return NULL;
}

#ifndef USERFAULTFD_IOC_NEW /* Linux 6.1 */
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0)
#endif

static bool filter_set(const unsigned *refused)
{
    struct sock_filter code[2 * REFUSED_MAX + 7] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, USERFAULTFD_IOC_NEW, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), /* as root has /dev/userfaultfd, which containers lack */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    unsigned short length = 6;
    for (int i = 0; i < REFUSED_MAX && refused[i] != 0; i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* From the process's beginning, so for whatever is preloaded, too. Open MPI 4 does not find out by itself that it may
 * not read its peers' memory. UCX does, and takes TCP for it, on which MPI_Finalize of MPICH 4.0 hangs now and then. */
static void filter_begin(char **argv)
{
    static const char mark[] = "FILTERED";
    const unsigned *refused = refused_find(argv[1]);
    if (getenv(mark) != NULL) {
        check(prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER, "the filter is there");
        return;
    }
    setenv(mark, "1", 1);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    setenv("UCX_TLS", "posix,self", 1);
    if (filter_set(refused))
        execv("/proc/self/exe", argv);
}

static void blocking_exchange(unsigned char *buffer, unsigned seed)
{
    check_exchange_late(buffer, LENGTH, seed, 0);
    if (check_rank() == 0)
        check_send(buffer, LENGTH, 1, 1);
    else
        check_recv_late(buffer, LENGTH, seed, 0, 1, "the message back");
    memset(buffer, 0xEE, LENGTH); /* what was sent may still be under way */
}

static void crossing_exchange(unsigned char *buffer, unsigned seed)
{
    int peer = 1 - check_rank();
    MPI_Request requests[2];
    check_fill(buffer, HALF, seed + (unsigned)check_rank());
    MPI_Sendrecv(buffer, HALF, MPI_BYTE, peer, 2, buffer + HALF, HALF, MPI_BYTE, peer, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(check_is_filled(buffer + HALF, HALF, seed + (unsigned)peer), "both at once");
    memset(buffer + HALF, 0xEE, HALF);
    MPI_Irecv(buffer + HALF, HALF, MPI_BYTE, peer, 3, MPI_COMM_WORLD, requests);
    MPI_Isend(buffer, HALF, MPI_BYTE, peer, 3, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(check_is_filled(buffer + HALF, HALF, seed + (unsigned)peer), "nonblocking");
}

/* Every other block of the buffer. */
static void gaps_exchange(unsigned char *buffer, unsigned seed)
{
    MPI_Datatype every_other;
    MPI_Type_vector(LENGTH / BLOCK / 2, BLOCK, 2 * BLOCK, MPI_BYTE, &every_other);
    MPI_Type_commit(&every_other);
    memset(buffer, 0xEE, LENGTH);
    if (check_rank() == 1) {
        check_delay();
        check_fill(buffer, LENGTH, seed);
        MPI_Send(buffer, 1, every_other, 0, 4, MPI_COMM_WORLD);
        check_fill(buffer, LENGTH, seed + 1);
    } else {
        MPI_Recv(buffer, 1, every_other, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < LENGTH; i++)
            check(buffer[i] == (i / BLOCK % 2 == 0 ? check_byte(i, seed) : 0xEE), "every other block, and no more");
    }
    MPI_Type_free(&every_other);
}

/* realloc() does without mremap(), if it must. */
static unsigned char *buffer_grow(unsigned char *buffer, unsigned seed)
{
    check_fill(buffer, LENGTH / 4, seed);
    buffer = realloc(buffer, LENGTH);
    check(buffer != NULL && check_is_filled(buffer, LENGTH / 4, seed), "what a block that has grown holds");
    return buffer;
}

int main(int argc, char **argv)
{
    filter_begin(argv);
    if (getenv("FILTERED") == NULL || refused_find(argv[1]) == NULL)
        return check_skip("no filter can be set");
    check_start(&argc, &argv);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        unsigned char *buffer = buffer_grow(malloc(LENGTH / 4), seed);
        blocking_exchange(buffer, seed);
        crossing_exchange(buffer, seed);
        gaps_exchange(buffer, seed);
        free(buffer);
    }
    return check_end();
}
