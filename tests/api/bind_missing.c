/* SPDX-License-Identifier: MIT */
/* Calls a function that this process's MPI lacks; must not return. */
#include "fake_mpi.h"

int bind_missing_call(void);

int main(void)
{
    if (MPI_Wtime() != 42.5)
        return 2;
    bind_missing_call();
    return 0;
}
