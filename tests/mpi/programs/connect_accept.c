/* SPDX-License-Identifier: MIT */
/* Claim: two parts of a job that connect by a port exchange large messages.
 * timeout: 60 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm between;
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS) {
        printf("this MPI cannot open a port\n");
        MPI_Finalize();
        return 77;
    }
    if (check_rank() == 0) {
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    }
    for (int i = 0; i < 4; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + check_rank());
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, 0, 1, in, CHECK_LARGE_BYTES, MPI_BYTE, 0, 1, between,
                     MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + 1 - check_rank()), "the other side's bytes");
    }
    MPI_Comm_disconnect(&between);
    return check_end();
}
