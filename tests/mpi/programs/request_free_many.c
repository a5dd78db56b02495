/* SPDX-License-Identifier: MIT */
/* Claim: receives still return early after 20,000 requests were freed while active,
 * and the messages of those arrive.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { BATCH = 200, BATCHES = 100, SMALL = 4000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static char outs[BATCH][SMALL], ins[BATCH][SMALL];
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request request;
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; check_rank() == 1 && i < BATCH; i++) {
            outs[i][7] = (char)(batch + i);
            MPI_Isend(outs[i], SMALL, MPI_CHAR, 0, i, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
            check(request == MPI_REQUEST_NULL, "the handle is null");
        }
        for (int i = 0; check_rank() == 0 && i < BATCH; i++) {
            MPI_Recv(ins[i], SMALL, MPI_CHAR, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(ins[i][7] == (char)(batch + i), "the message");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check_rank() == 1) {
        check_delay();
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
        check_send(buffer, CHECK_LARGE_BYTES - 1, 0, 0);
        return check_end();
    }
    check_recv(buffer + 1, CHECK_LARGE_BYTES - 1, 1, 0); /* shares its first page */
    check(check_is_filled(buffer + 1, CHECK_LARGE_BYTES - 1, 1), "the large message");
    return check_end();
}
