/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Abort after a receive that has returned early does not wait for its message, which is sent seconds later.
 * ranks: 3
 * quick: mpich4 signal-1 userfaultfd
 * timeout: 60
 * exit: 42 */
#include <unistd.h>

#include "check.h"

enum { MESSAGE_S = 6, PATIENCE_S = 5 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        sleep(MESSAGE_S);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    } else if (check_rank() == 2) {
        sleep(MESSAGE_S); /* mpirun of Open MPI 4.1 may crash where a rank is in MPI_Finalize */
    } else {
        double begin = MPI_Wtime();
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        bool is_early = MPI_Wtime() < begin + PATIENCE_S;
        alarm(is_early ? PATIENCE_S : 0); /* another end, before the message comes */
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    return check_end();
}
