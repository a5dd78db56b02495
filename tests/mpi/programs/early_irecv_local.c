/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Irecv of a message that is still being received early returns at once, whatever its sender waits for.
 * takes: any
 * quick: default userfaultfd
 * flags: -Wno-unused-parameter
 * environment: LAPWING_EARLY_RECEIVE=on OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 */
#include <unistd.h>

#include "check.h"

enum { DATA = 2, LENGTH = 4 << 20, PATIENCE = 200 };

static void ignore(MPI_Comm *comm, int *code, ...)
{
}

/* Outside MPI, and Lapwing carries nothing on: this process has an error handler of its own. */
static void send(unsigned char *buffer, const char *sign)
{
    MPI_Errhandler handler;
    MPI_Request request;
    int tries = 0;
    MPI_Comm_create_errhandler(ignore, &handler);
    check_fill(buffer, LENGTH, 3);
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    while (access(sign, F_OK) != 0 && tries++ < PATIENCE)
        check_delay();
    check(tries < PATIENCE, "the receiver has gone on");
    unlink(sign);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Errhandler_free(&handler);
}

static void receive(unsigned char *buffer, const char *sign)
{
    MPI_Request request;
    for (int i = 0; i < 10; i++)
        check_delay();
    MPI_Irecv(buffer, LENGTH, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    fclose(fopen(sign, "w"));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LENGTH, 3), "the message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    char sign[64];
    int pid = (int)getpid();
    unsigned char *buffer = check_buffer_new(LENGTH);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(sign, sizeof sign, "/tmp/lapwing-test-sign.%d", pid);
    if (check_rank() == 1) {
        check_send(buffer, LENGTH, 0, DATA);
        send(buffer, sign);
    } else {
        check_recv(buffer, LENGTH, 1, DATA);
        receive(buffer, sign);
    }
    return check_end();
}
