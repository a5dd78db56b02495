/* SPDX-License-Identifier: MIT */
/* Claim: types without bytes, messages without elements, and MPI_PACKED go through between deferred messages. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES), *packed = check_buffer_new(CHECK_LARGE_BYTES + 1000);
    MPI_Datatype empty;
    MPI_Status status;
    int position = 0, count;
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_commit(&empty);
    if (check_rank() == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, 5);
        MPI_Pack(buffer, CHECK_LARGE_BYTES, MPI_BYTE, packed, CHECK_LARGE_BYTES + 1000, &position, MPI_COMM_WORLD);
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(buffer, 1 << 20, empty, 1, 1, MPI_COMM_WORLD);
        MPI_Send(buffer, 0, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        MPI_Send(packed, position, MPI_PACKED, 1, 3, MPI_COMM_WORLD);
        return check_end();
    }
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Recv(buffer, 1 << 20, empty, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 0, "elements without bytes");
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(count == 0, "no elements");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the message before");
    MPI_Recv(packed, CHECK_LARGE_BYTES + 1000, MPI_PACKED, 0, 3, MPI_COMM_WORLD, &status);
    memset(buffer, 0, CHECK_LARGE_BYTES);
    MPI_Unpack(packed, CHECK_LARGE_BYTES + 1000, &position, buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_COMM_WORLD);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "unpacked");
    return check_end();
}
