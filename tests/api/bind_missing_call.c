/* SPDX-License-Identifier: MIT */
/* The part of bind_missing that calls what its MPI lacks: a linker lets such a
 * library be built, but no such program. */
int MPI_Comm_size(int comm, int *size);

__attribute__((visibility("default"))) int bind_missing_call(void);

int bind_missing_call(void)
{
    int size;
    return MPI_Comm_size(0, &size);
}
