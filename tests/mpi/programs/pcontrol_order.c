/* SPDX-License-Identifier: MIT */
/* Claim: messages keep their order when the program pauses and resumes between them, over those that are under way.
 * defers: any
 * passes: paused
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { COUNT = 8 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffers[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        check_delay(); /* the first receive is pending while the next ones are passed */
    for (int i = 0; i < COUNT; i++) {
        MPI_Pcontrol((i + check_rank()) % 2); /* one side pauses where the other one resumes */
        if (check_rank() == 0) {
            check_fill(buffers[i], CHECK_LARGE_BYTES, i);
            check_send(buffers[i], CHECK_LARGE_BYTES, 1, 5);
        } else {
            check_recv(buffers[i], CHECK_LARGE_BYTES, 0, 5);
        }
    }
    for (int i = 0; i < COUNT; i++)
        check(check_is_filled(buffers[i], CHECK_LARGE_BYTES, i), "message i holds what send i sent");
    return check_end();
}
