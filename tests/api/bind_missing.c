/* SPDX-License-Identifier: MIT */
/* Calls a function that this process's MPI lacks; must not return. */
#include "fake_mpi.h"

int main(void)
{
    int size;
    MPI_Comm_size(0, &size);
    return 0;
}
