/* SPDX-License-Identifier: MIT */
/* Claim: a large collective that one rank calls in MPI_Finalize, from a function that deletes an attribute of
 * MPI_COMM_SELF, is the one that other ranks call before (MPI 4.1, 11.2.4).
 * ranks: 2 3 5 */
#include "check.h"

enum { COUNT = 200000, CALLS = 3 };

static int given[COUNT], sums[COUNT];

static void add_up(void)
{
    int size = check_size();
    for (int i = 0; i < COUNT; i++) {
        given[i] = check_rank() + 1;
        sums[i] = 0;
    }
    MPI_Allreduce(given, sums, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sums[0] == size * (size + 1) / 2 && sums[COUNT - 1] == sums[0], "the sum is there");
}

static int attribute_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    add_up();
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    check_start(&argc, &argv);
    for (int i = 0; i < CALLS; i++)
        add_up();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_delete, &key, NULL);
    if (check_rank() == 0)
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    else
        add_up();
    return check_end();
}
