/* SPDX-License-Identifier: MIT */
/* Claim: partitioned messages carry the right bytes from and to buffers that blocking
 * calls have just used.
 * defers: any
 * quick: mpich4 openmpi5 mpi5abi impi */
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { PARTS = 4, PART = CHECK_LARGE_BYTES / PARTS };

static void send_parts(unsigned char *buffer, MPI_Request *request)
{
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0); /* perhaps under way until MPI_Pready */
    MPI_Start(request);
    for (int i = PARTS - 1; i >= 0; i--)
        MPI_Pready(i, *request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void receive_parts(unsigned char *buffer, MPI_Request *request, unsigned seed)
{
    int has_arrived = 0;
    check_fill(buffer, CHECK_LARGE_BYTES, seed);
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    memset(buffer, 0, CHECK_LARGE_BYTES); /* waits for the send */
    MPI_Start(request);
    while (!has_arrived)
        MPI_Parrived(*request, PARTS - 1, &has_arrived);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the bytes went round");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request request;
    if (check_rank() == 0)
        MPI_Psend_init(buffer, PARTS, PART, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(buffer, PARTS, PART, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (unsigned round = 0; round < 5; round++) {
        if (check_rank() == 0)
            send_parts(buffer, &request);
        else
            receive_parts(buffer, &request, round);
    }
    MPI_Request_free(&request);
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no partitioned communication");
}
#endif
