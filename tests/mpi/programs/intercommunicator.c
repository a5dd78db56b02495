/* SPDX-License-Identifier: MIT */
/* Claim: large messages between the groups of an intercommunicator go to the remote rank of
 * that number, with its number in the status.
 * defers: any
 * ranks: 2 4 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), half = check_size() / 2, side = rank / half, peer, number;
    MPI_Comm local, between;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? half : 0, 8, &between);
    MPI_Comm_rank(between, &number);
    peer = half - 1 - number; /* crosswise */
    for (int i = 0; i < 5; i++) {
        MPI_Status status;
        check_fill(out, CHECK_LARGE_BYTES, 10 * i + rank);
        if (side == 0)
            MPI_Send(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 3, between);
        MPI_Recv(in, CHECK_LARGE_BYTES, MPI_BYTE, i % 2 ? peer : MPI_ANY_SOURCE, 3, between, &status);
        if (side == 1)
            MPI_Send(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 3, between);
        check(status.MPI_SOURCE == peer, "the remote rank");
        check(check_is_filled(in, CHECK_LARGE_BYTES, 10 * i + (1 - side) * half + peer), "the remote rank's bytes");
        MPI_Sendrecv_replace(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 4, peer, 4, between, &status);
        check(check_is_filled(out, CHECK_LARGE_BYTES, 10 * i + (1 - side) * half + peer), "and by exchange");
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&local);
    return check_end();
}
