/* SPDX-License-Identifier: MIT */
/* Claim: between MPI_Irecv and its wait what lies beside the buffer on its pages is the program's, though the message
 * only comes once the program has used it; and where the program looks at the buffer itself, it does not hang.
 * arguments: all beside inside
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, BESIDE = 100, GO = 1, DATA = 2, NEAR = 3, ROUNDS = 4 };

static const char *way;

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

/* The bytes before the buffer, on its first page. */
static void use(unsigned char *beside, int round)
{
    MPI_Request request;
    int ends[2];
    if (is_way("all")) {
        memset(beside, round, BESIDE);
        check(pipe(ends) == 0 && write(ends[1], beside, BESIDE) == BESIDE && close(ends[0]) == 0, "a pipe");
        close(ends[1]);
        check_send(beside, BESIDE, 1, NEAR);
    }
    if (is_way("beside")) {
        MPI_Irecv(beside, BESIDE, MPI_BYTE, 1, NEAR, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void receive(unsigned char *beside, int round)
{
    MPI_Request request;
    unsigned char *buffer = beside + BESIDE;
    memset(beside, round, BESIDE);
    memset(buffer, 0xBB, LARGE);
    MPI_Irecv(buffer, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    use(beside, round);
    if (is_way("inside"))
        check(buffer[LARGE / 2] == 0xBB, "the buffer as it was");
    check_send(NULL, 0, 1, GO);
    use(buffer + LARGE, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LARGE, (unsigned)round), "the message");
    for (int i = 0; i < BESIDE; i++)
        check(beside[i] == round && (!is_way("all") || buffer[LARGE + i] == round), "beside it");
}

static void answer_use(unsigned char *buffer, int round)
{
    if (is_way("all"))
        check_recv(buffer, BESIDE, 0, NEAR);
    memset(buffer, round, BESIDE);
    if (is_way("beside"))
        check_send(buffer, BESIDE, 0, NEAR);
}

static void send(unsigned char *buffer, int round)
{
    answer_use(buffer, round);
    check_recv(NULL, 0, 0, GO);
    answer_use(buffer, round);
    check_fill(buffer, LARGE, (unsigned)round);
    check_send(buffer, LARGE, 0, DATA);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    unsigned char *memory = check_buffer_new(LARGE + 2L * BESIDE + 64 * sizeof(long));
    for (int round = 1; round <= ROUNDS; round++) {
        if (check_rank() == 0)
            receive(memory, is_way("inside") ? 1 : round);
        else
            send(memory, is_way("inside") ? 1 : round);
    }
    return check_end();
}
