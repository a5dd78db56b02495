/* SPDX-License-Identifier: MIT */
/* Claim: a message whose type names some bytes twice may be sent while another one is received into what it leaves out.
 * passes: memory_neighbours */
#include "check.h"

enum { PART = 1 << 19 };

/* The first part twice, and the third: as long as three parts, with the second one left out. */
static MPI_Datatype overlapping_type(void)
{
    MPI_Datatype type;
    int lengths[] = {PART, PART, PART}, places[] = {0, 0, 2 * PART};
    MPI_Type_indexed(3, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void send_around(unsigned char *buffer)
{
    MPI_Request request;
    MPI_Datatype type = overlapping_type();
    check_fill(buffer, 3 * PART, 1);
    MPI_Irecv(buffer + PART, PART, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Send(buffer, 1, type, 1, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer + PART, PART, 9), "the message in the gap");
    MPI_Type_free(&type);
}

static void receive_around(unsigned char *buffer)
{
    unsigned char *part = check_buffer_new(PART);
    check_fill(part, PART, 9);
    check_delay();
    check_send(part, PART, 0, 7);
    check_delay();
    check_recv(buffer, 3 * PART, 0, 8);
    check(check_is_filled(buffer, PART, 1), "the first part");
    check(memcmp(buffer, buffer + PART, PART) == 0, "the first part again");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(3 * PART);
    check_rank() == 0 ? send_around(buffer) : receive_around(buffer);
    return check_end();
}
