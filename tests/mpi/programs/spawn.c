/* SPDX-License-Identifier: MIT */
/* Claim: spawned processes exchange large messages with their parents, just after and just
 * before the communicator between them appears and goes.
 * timeout: 60 */
#include "check.h"

static void exchange(MPI_Comm between, int is_child)
{
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 4; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + is_child);
        if (!is_child)
            MPI_Send(out, CHECK_LARGE_BYTES, MPI_BYTE, 0, i, between);
        MPI_Recv(in, CHECK_LARGE_BYTES, MPI_BYTE, 0, i, between, MPI_STATUS_IGNORE);
        if (is_child)
            MPI_Send(out, CHECK_LARGE_BYTES, MPI_BYTE, 0, i, between);
        if (i % 2 == 0)
            check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + 1 - is_child), "the other side's bytes");
        if (i == 0)
            check_spawned(between);
    }
    MPI_Comm_disconnect(&between);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 6 + 1 - is_child), "the last message");
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    setenv("I_MPI_FABRICS", "shm:ofi", 1); /* by shared memory alone Intel MPI does not spawn */
    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        exchange(parent, 1);
        MPI_Finalize();
        return 0;
    }
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(buffer, CHECK_LARGE_BYTES, 9);
    MPI_Sendrecv_replace(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1 - check_rank(), 0, 1 - check_rank(), 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Comm child = check_spawn(argv[0]);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 9), "the message before");
    if (check_rank() == 0)
        exchange(child, 0);
    else {
        check_spawned(child);
        MPI_Comm_disconnect(&child);
    }
    return check_end();
}
