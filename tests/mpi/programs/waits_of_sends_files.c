/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitall of a large send and a nonblocking collective operation on a file ends. MPICH's goes on only in
 * calls that complete it. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 3 };

static void round_play(MPI_File file, unsigned char *buffer, unsigned char *data, int round)
{
    MPI_Request requests[2];
    if (check_rank() == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, round);
        MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    } else {
        MPI_Irecv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_File_iwrite_at_all(file, (MPI_Offset)check_rank() * CHECK_LARGE_BYTES, data, CHECK_LARGE_BYTES, MPI_BYTE,
                           &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (check_rank() == 1)
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message");
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/lapwing-test-XXXXXX";
    MPI_File file;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char *data = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        close(mkstemp(path));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    for (int round = 0; round < ROUNDS; round++)
        round_play(file, buffer, data, round);
    MPI_File_close(&file);
    return check_end();
}
