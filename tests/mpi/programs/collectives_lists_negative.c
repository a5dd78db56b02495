/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Allgatherv with a negative count among large ones ends as with MPI alone: it is passed on all ranks. (On
 * Open MPI 5 one that returned early never ended.)
 * quick: openmpi5 mpich4 userfaultfd
 * ranks: 2 3
 */
#include <string.h>

#include "check.h"

enum { COUNT = 1 << 18, RANKS_MAX = 4 };

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    int counts[RANKS_MAX];
    int displacements[RANKS_MAX];
    check_start(&argc, &argv);
    MPI_Get_library_version(version, &length);
    if (strncmp(version, "Open MPI v4", strlen("Open MPI v4")) == 0)
        return check_skip("Open MPI 4.1 crashes");
    char *mine = (char *)check_buffer_new(COUNT);
    char *all = (char *)check_buffer_new((size_t)check_size() * COUNT);
    memset(mine, 1, COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int peer = 0; peer < check_size(); peer++) {
        counts[peer] = COUNT;
        displacements[peer] = peer * COUNT;
    }
    counts[0] = -1;
    MPI_Allgatherv(mine, COUNT, MPI_CHAR, all, counts, displacements, MPI_CHAR, MPI_COMM_WORLD);
    all[0] = mine[0]; /* waits for what is still to come */
    return check_end();
}
