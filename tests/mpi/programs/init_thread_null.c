/* SPDX-License-Identifier: MIT */
/* Claim: a program that does not ask which thread level it got is served, where its MPI takes that.
 * ranks: 2
 * defers: any
 * quick: mpich4 mpich5 */
#include "check.h"

enum { ROUNDS = 10 };

/* Open MPI ends such a program itself. */
static bool mpi_takes_null(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "MPICH") != NULL || strstr(version, "Intel") != NULL;
}

int main(int argc, char **argv)
{
    if (!mpi_takes_null())
        return check_skip("this MPI needs a place to tell the thread level");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, NULL);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (check_rank() == 0)
            check_recv_late(buffer, CHECK_LARGE_BYTES, i, 1, 0, "the message");
        else
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, 0);
    return check_end();
}
