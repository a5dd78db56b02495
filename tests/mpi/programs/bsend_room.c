/* SPDX-License-Identifier: MIT */
/* Claim: a program whose attached buffer has room for one message may take its receiver's answer as proof that there is
 * room for the next one (MPI 4.1, 3.6).
 * arguments: blocking multiple nonblocking
 * environment: LAPWING_MATCH=off
 * defers: any */
#include "check.h"

enum { ROUNDS = 12, LENGTH = 4 << 20 };

static bool is_nonblocking;

static void send(unsigned char *buffer)
{
    MPI_Request request;
    if (!is_nonblocking) {
        MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Ibsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    check(request != MPI_REQUEST_NULL, "there is a request");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void rank_send(unsigned char *buffer)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(buffer, LENGTH, round);
        send(buffer);
        check_recv(&(char){0}, 1, 1, 1);
    }
}

static void rank_receive(void)
{
    unsigned char *buffers[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        buffers[round] = check_buffer_new(LENGTH);
        check_recv(buffers[round], LENGTH, 0, 0);
        check_send(&(char){0}, 1, 0, 1);
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        check(check_is_filled(buffers[round], LENGTH, round), "the message as it was sent");
}

int main(int argc, char **argv)
{
    is_nonblocking = strcmp(argv[argc - 1], "nonblocking") == 0;
    if (strcmp(argv[argc - 1], "multiple") == 0)
        check_start_multiple(&argc, &argv);
    else
        check_start(&argc, &argv);
    int length;
    unsigned char *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    if (check_rank() == 0)
        rank_send(check_buffer_new(LENGTH));
    else
        rank_receive();
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
