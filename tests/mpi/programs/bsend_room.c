/* SPDX-License-Identifier: MIT */
/* Claim: a program whose attached buffer has room for one message may take its receiver's answer as proof that there is
 * room for the next one (MPI 4.1, 3.6).
 * arguments: blocking multiple nonblocking
 * environment: LAPWING_MATCH=off
 * defers: any */
#include "room_play.h"

enum { ROUNDS = 12, LENGTH = 4 << 20 };

static void send_blocking(unsigned char *buffer, int length)
{
    MPI_Bsend(buffer, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void send_nonblocking(unsigned char *buffer, int length)
{
    MPI_Request request;
    MPI_Ibsend(buffer, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    check(request != MPI_REQUEST_NULL, "there is a request");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *way = argv[argc - 1];
    if (strcmp(way, "multiple") == 0)
        check_start_multiple(&argc, &argv);
    else
        check_start(&argc, &argv);
    room_play(strcmp(way, "nonblocking") == 0 ? send_nonblocking : send_blocking, LENGTH, ROUNDS);
    return check_end();
}
