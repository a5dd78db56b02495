/* SPDX-License-Identifier: MIT */
/* Claim: of calls with lists that are MPI's own affair no more is read than MPI reads, and errors go to the handler of
 * their communicator.
 * ranks: 3 */
#include <sys/mman.h>

#include "check.h"

enum { PAGE_BYTES = 4096 };

/* Ends where memory does. */
static int *list_new(int length)
{
    char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE);
    return (int *)(pages + PAGE_BYTES) - length;
}

/* MPI_Reduce_scatter between groups is given as many counts as the own group has ranks. */
static void reduce_between_groups(void)
{
    int out[2] = {1, 2}, in[2];
    int is_left = check_rank() == 0;
    int own_size;
    MPI_Comm own, between;
    MPI_Comm_split(MPI_COMM_WORLD, is_left, check_rank(), &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_left ? 1 : 0, 9, &between);
    MPI_Comm_size(own, &own_size);
    int *counts = list_new(own_size);
    for (int rank = 0; rank < own_size; rank++)
        counts[rank] = is_left ? 2 : 1;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, between);
    check(is_left ? in[0] == 2 && in[1] == 4 : in[0] == check_rank(), "MPI_Reduce_scatter between groups");
}

static void types_are_wrong(void)
{
    int counts[3] = {1, 1, 1}, displacements[3] = {0, 1, 2}, out[3] = {0}, in[3];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int result = MPI_Alltoallv(out, counts, displacements, MPI_DATATYPE_NULL, in, counts, displacements, MPI_INT, comm);
    check(result != MPI_SUCCESS, "MPI_Alltoallv returns its error");
    result = MPI_Gatherv(out, 1, MPI_DATATYPE_NULL, in, counts, displacements, MPI_INT, 0, comm);
    check(result != MPI_SUCCESS, "MPI_Gatherv returns its error");
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    reduce_between_groups();
    types_are_wrong();
    return check_end();
}
