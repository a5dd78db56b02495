/* SPDX-License-Identifier: MIT */
/* Claim: a large message that MPI_Bsend has copied arrives while its sender computes and makes no MPI call.
 * assists: any
 * variants: userfaultfd signal-1 poll
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * environment: OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 */
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 4 << 20, ROUNDS = 3, PATIENCE_STOCK_MS = 200, PATIENCE_MS = 10000 };

/* MPI alone need not carry anything on. */
static bool has_engine(void)
{
    return dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL;
}

/* The receiver's sign, outside MPI. */
static void await_sign(int ends)
{
    struct pollfd sign = {.fd = ends, .events = POLLIN};
    int patience_ms = has_engine() ? PATIENCE_MS : PATIENCE_STOCK_MS;
    bool is_there = poll(&sign, 1, patience_ms) == 1;
    check(is_there || !has_engine(), "the message has arrived meanwhile");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int ends = check_pipe(), length;
    char sign = 0;
    unsigned char *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD), *buffer = check_buffer_new(LENGTH);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    for (unsigned round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0) {
            check_fill(buffer, LENGTH, round);
            MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            memset(buffer, 0xAA, LENGTH);
            await_sign(ends);
            MPI_Buffer_detach(&attached, &length); /* there is room again */
            MPI_Buffer_attach(attached, length);
            check(read(ends, &sign, 1) == 1, "the sign");
        } else {
            check_recv_late(buffer, LENGTH, round, 0, 0, "the message as it was at MPI_Bsend");
            check(write(ends, &sign, 1) == 1, "giving the sign");
        }
    }
    MPI_Buffer_detach(&attached, &length);
    check(length == LENGTH + MPI_BSEND_OVERHEAD, "the buffer's length");
    return check_end();
}
