/* SPDX-License-Identifier: MIT */
/* Claim: a message too long for its buffer ends the job under the default error handler.
 * exit: nonzero */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { SENT = 600000, ROOM = 300000 };
    unsigned char *buffer = check_buffer_new(SENT);
    if (check_rank() == 1)
        check_send(buffer, SENT, 0, 4);
    if (check_rank() == 0)
        check_recv(buffer, ROOM, 1, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
