/* SPDX-License-Identifier: MIT */
/* Claim: empty messages, null buffers, types without bytes and MPI_PACKED match and order like others, between deferred
 * messages. */
#include "check.h"

enum { PACKED_BYTES = CHECK_LARGE_BYTES + 1000 };

static int count_received(void *buffer, int count, MPI_Datatype type, int tag, MPI_Datatype counted)
{
    MPI_Status status;
    MPI_Recv(buffer, count, type, 0, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, counted, &count);
    return count;
}

static void send_all(unsigned char *buffer, unsigned char *packed, MPI_Datatype empty)
{
    int position = 0;
    check_send(NULL, 0, 1, 1);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 1);
    check_send(buffer, 0, 1, 1);
    MPI_Pack(buffer, CHECK_LARGE_BYTES, MPI_BYTE, packed, PACKED_BYTES, &position, MPI_COMM_WORLD);
    MPI_Send(buffer, 1 << 20, empty, 1, 2, MPI_COMM_WORLD);
    MPI_Send(buffer, 0, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    MPI_Send(packed, position, MPI_PACKED, 1, 4, MPI_COMM_WORLD);
}

static void receive_all(unsigned char *buffer, unsigned char *packed, MPI_Datatype empty)
{
    int position = 0;
    check_recv(NULL, 0, 0, 1);
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
    check(count_received(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, MPI_BYTE) == 0, "the third message is empty");
    check(count_received(buffer, 1 << 20, empty, 2, MPI_BYTE) == 0, "elements without bytes");
    check(count_received(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 3, MPI_DOUBLE) == 0, "no elements");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the message before");
    MPI_Recv(packed, PACKED_BYTES, MPI_PACKED, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memset(buffer, 0, CHECK_LARGE_BYTES);
    MPI_Unpack(packed, PACKED_BYTES, &position, buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_COMM_WORLD);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "unpacked");
}

int main(int argc, char **argv)
{
    MPI_Datatype empty;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES), *packed = check_buffer_new(PACKED_BYTES);
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_commit(&empty);
    check_fill(buffer, CHECK_LARGE_BYTES, check_rank() == 0 ? 5 : 6);
    check_rank() == 0 ? send_all(buffer, packed, empty) : receive_all(buffer, packed, empty);
    MPI_Type_free(&empty);
    return check_end();
}
