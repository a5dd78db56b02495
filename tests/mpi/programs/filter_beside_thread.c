/* SPDX-License-Identifier: MIT */
/* Claim: a thread that sets a filter of system calls does not wait for ever for what another thread has received, when
 * it is this thread that lets the peers go on: first rank 1, which then lets rank 2 send the rest.
 * ranks: 3
 * defers: receive
 * environment: LAPWING_NONBLOCKING=off OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1
 * timeout: 60
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, TO_RANK_1 = 1, FROM_RANK_2 = 2 };

static int job;

static struct sockaddr_un address_of(int rank)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "filter_beside_thread-%d-%d", job, rank);
    return address;
}

static int socket_of(int rank)
{
    struct sockaddr_un address = address_of(rank);
    int socket_own = socket(AF_UNIX, SOCK_DGRAM, 0);
    check(bind(socket_own, (struct sockaddr *)&address, sizeof address) == 0, "a socket");
    return socket_own;
}

static void let_go(int rank)
{
    struct sockaddr_un address = address_of(rank);
    int socket_own = socket(AF_UNIX, SOCK_DGRAM, 0);
    check(sendto(socket_own, "x", 1, 0, (struct sockaddr *)&address, sizeof address) == 1, "a datagram");
    close(socket_own);
}

static void wait_until_let_go(int socket_own)
{
    char byte;
    check(recv(socket_own, &byte, 1, 0) == 1, "its datagram");
}

static void *filter_and_let_go(void *unused)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, code};
    (void)unused;
    usleep(300000); /* until the receive has begun */
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "the filter");
    let_go(1);
    return NULL;
}

static void play_rank_0(unsigned char *buffer)
{
    pthread_t thread;
    MPI_Request request;
    unsigned char *received = check_buffer_new(LENGTH);
    pthread_create(&thread, NULL, filter_and_let_go, NULL);
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 1, TO_RANK_1, MPI_COMM_WORLD, &request);
    MPI_Recv(received, LENGTH, MPI_BYTE, 2, FROM_RANK_2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(received, LENGTH, 2), "the message of rank 2");
}

static void play_rank_1(unsigned char *buffer, int socket_own)
{
    wait_until_let_go(socket_own);
    check_recv(buffer, LENGTH, 0, TO_RANK_1);
    check(check_is_filled(buffer, LENGTH, 0), "the message of rank 0");
    let_go(2);
}

/* It has announced its message before it waits outside MPI. */
static void play_rank_2(unsigned char *buffer, int socket_own)
{
    MPI_Request request;
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 0, FROM_RANK_2, MPI_COMM_WORLD, &request);
    wait_until_let_go(socket_own);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0)
        return check_skip("no filter can be set");
    check_start(&argc, &argv);
    job = getpid();
    MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
    unsigned char *buffer = check_buffer_new(LENGTH);
    check_fill(buffer, LENGTH, (unsigned)check_rank());
    int socket_own = socket_of(check_rank());
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        play_rank_0(buffer);
    else if (check_rank() == 1)
        play_rank_1(buffer, socket_own);
    else
        play_rank_2(buffer, socket_own);
    return check_end();
}
