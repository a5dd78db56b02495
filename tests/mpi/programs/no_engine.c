/* SPDX-License-Identifier: MIT */
/* Claim: where the system gives the engine no descriptor, messages go as they go without Lapwing.
 * passes: no_engine
 * defers: nothing
 * quick: openmpi4 */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 20 };

static void exchange(unsigned char *out, unsigned char *in, unsigned round)
{
    int peer = 1 - check_rank();
    MPI_Request request;
    check_fill(out, CHECK_LARGE_BYTES, 2 * round + check_rank());
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * round + peer), "the message");
    MPI_Irecv(in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    check_send(out, CHECK_LARGE_BYTES, peer, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * round + peer), "the second message");
}

static void descriptors_forbid(void)
{
    struct rlimit limit;
    int lowest = dup(STDERR_FILENO);
    close(lowest);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)lowest;
    check(setrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Pcontrol(0);
    exchange(out, in, 0); /* MPI opens what it needs */
    MPI_Pcontrol(1);
    descriptors_forbid();
    for (unsigned round = 1; round < ROUNDS; round++)
        exchange(out, in, round);
    setrlimit(RLIMIT_NOFILE, &before);
    return check_end();
}
