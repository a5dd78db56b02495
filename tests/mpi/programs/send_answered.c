/* SPDX-License-Identifier: MIT */
/* Claim: a buffer that goes to a peer and comes back is not copied whole: the receive into it must wait for the send,
 * but the peer has not yet answered then, and a copy would not bring the answer sooner.
 * defers: send receive
 * copies: touched only
 * quick: openmpi4 mpich4
 * environment: LAPWING_LEARN=on OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 */
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 12, LATE_US = 20000, WORK_US = 2000 };

/* The touch shows that the buffer is written soon. */
static void ask(unsigned char *buffer, int length)
{
    check_send(buffer, length, 1, 0);
    usleep(WORK_US);
    buffer[length / 2]++;
    check_recv(buffer, length, 1, 1);
    usleep(WORK_US);
}

static void answer(unsigned char *buffer, int length)
{
    usleep(LATE_US);
    check_recv(buffer, length, 0, 0);
    check(buffer[0] != 0, "the message has come");
    usleep(LATE_US);
    buffer[0]++;
    check_send(buffer, length, 0, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    memset(buffer, 1, CHECK_LARGE_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0) {
            ask(buffer, CHECK_LARGE_BYTES);
            check(buffer[0] == round + 2, "the answer");
        } else {
            answer(buffer, CHECK_LARGE_BYTES);
        }
    }
    return check_end();
}
