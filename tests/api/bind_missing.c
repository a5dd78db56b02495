/* SPDX-License-Identifier: MIT */
/* Calls a function that this process's MPI lacks; must not return. By address, as
 * an interpreter does: a linker would not let such a program be built. */
#include <dlfcn.h>
#include <stddef.h>

#include "fake_mpi.h"

int main(void)
{
    int size;
    int (*comm_size)(int, int *) = (int (*)(int, int *))dlsym(RTLD_DEFAULT, "MPI_Comm_size");
    if (comm_size == NULL || MPI_Wtime() != 42.5)
        return 2;
    comm_size(0, &size);
    return 0;
}
