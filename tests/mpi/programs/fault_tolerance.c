/* SPDX-License-Identifier: MIT */
/* Claim: large blocking calls under MPICH's fault tolerance return what stock's do: MPICH 4.0's MPI_Test would end the
 * program (src/mpid/ch4/src/ch4_request.h) where it finds a message unfinished.
 * passes: tests
 * quick: openmpi4 mpich4 */
#include <stdlib.h>

#include "check.h"

enum { TAG = 1, ROUNDS = 3 };

/* Later ones end in MPI_Init with it, without Lapwing too. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
int main(int argc, char **argv)
{
    setenv("MPIR_CVAR_ENABLE_FT", "1", 1);
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0) {
            check_delay();
            check_fill(buffer, CHECK_LARGE_BYTES, i);
            MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        } else if (check_rank() == 1) {
            MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_delay();
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the data");
        }
    }
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no such setting");
}
#endif
