/* SPDX-License-Identifier: MIT */
/* Claim: messages of more than 2^31 elements arrive whole, with an exact status: of
 * elements without bytes; with the argument "whole" (by hand: 2 GiB a rank) of bytes.
 * timeout: 180 */
#include "check.h"

#if MPI_VERSION >= 4
static const size_t LENGTH = ((size_t)1 << 31) + 4099;

/* Cheap: few bytes of each page. */
static bool is_marked(const unsigned char *buffer, unsigned char mark)
{
    for (size_t i = 0; i < LENGTH; i += 4096) {
        if (buffer[i] != mark || buffer[i / 4096] != mark)
            return false;
    }
    return buffer[LENGTH - 1] == mark;
}

static void check_empty(void)
{
    MPI_Datatype empty;
    MPI_Status status;
    MPI_Count count = -1;
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    MPI_Type_commit(&empty);
    if (check_rank() == 0)
        MPI_Send_c(NULL, (MPI_Count)LENGTH, empty, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv_c(NULL, (MPI_Count)LENGTH, empty, 0, 0, MPI_COMM_WORLD, &status);
    if (check_rank() == 1)
        MPI_Get_count_c(&status, MPI_BYTE, &count);
    check(check_rank() == 0 || count == 0, "no byte arrived");
    MPI_Type_free(&empty);
}

static void check_whole(void)
{
    unsigned char *buffer = malloc(LENGTH);
    MPI_Status status;
    MPI_Count count = 0;
    check(buffer != NULL, "there is memory");
    memset(buffer, check_rank(), LENGTH);
    if (check_rank() == 0) {
        MPI_Send_c(buffer, (MPI_Count)LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        memset(buffer, 9, 8192);
    } else {
        MPI_Recv_c(buffer, (MPI_Count)LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &count);
        check(count == (MPI_Count)LENGTH, "the count");
        check(is_marked(buffer, 0), "the message");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    check_empty();
    if (argc > 1)
        check_whole();
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no large counts");
}
#endif
