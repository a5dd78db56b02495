/* SPDX-License-Identifier: MIT */
/* Claim: where the engine costs the program little, a message that MPI_Bsend has copied is carried on although those
 * before it, from the same place of the program, went at once.
 * assists: any
 * variants: default userfaultfd userfaultfd-user signal userfaultfd-1 signal-1 keys-1 poll
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * environment: LAPWING_LEARN=on LAPWING_PROGRESS=event OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 */
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 100000, FAST_ROUNDS = 100, PATIENCE_STOCK_MS = 200, PATIENCE_MS = 3000 };

/* The receiver's sign, outside MPI. Stock need not carry anything on. */
static void await_sign(int ends)
{
    bool has_engine = dlsym(RTLD_DEFAULT, "lapwing_progress_now") != NULL;
    struct pollfd sign = {.fd = ends, .events = POLLIN};
    bool is_there = poll(&sign, 1, has_engine ? PATIENCE_MS : PATIENCE_STOCK_MS) == 1;
    check(is_there || !has_engine, "the message has arrived meanwhile");
}

/* One call site. */
__attribute__((noinline)) static void send(unsigned char *buffer, int peer)
{
    MPI_Bsend(buffer, LENGTH, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

static void send_fast(unsigned char *attached, unsigned char *buffer, unsigned char *in)
{
    MPI_Request request;
    int length;
    for (int round = 0; round < FAST_ROUNDS; round++) {
        send(buffer, check_rank());
        MPI_Irecv(in, LENGTH, MPI_BYTE, check_rank(), 0, MPI_COMM_WORLD, &request);
        MPI_Buffer_detach(&attached, &length); /* there is room again */
        MPI_Buffer_attach(attached, length);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int ends = check_pipe(), length;
    char sign = 0;
    unsigned char *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD), *buffer = check_buffer_new(LENGTH);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    if (check_rank() == 0)
        send_fast(attached, buffer, check_buffer_new(LENGTH));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH, 1);
        send(buffer, 1);
        memset(buffer, 0xAA, LENGTH);
        await_sign(ends);
    } else {
        check_recv_late(buffer, LENGTH, 1, 0, 0, "the message as it was at MPI_Bsend");
        check(write(ends, &sign, 1) == 1, "giving the sign");
    }
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
