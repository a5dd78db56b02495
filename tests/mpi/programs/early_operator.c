/* SPDX-License-Identifier: MIT */
/* Claim: while a message is being received early, the program's own reduction function runs in its own thread only.
 * ranks: 3
 * quick: default userfaultfd
 * flags: -Wno-unused-parameter
 * environment: LAPWING_EARLY_RECEIVE=on OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 */
#include <pthread.h>

#include "check.h"

enum { DATA = 2, LENGTH = 4 << 20, REDUCTIONS = 20 };

static pthread_t main_thread;
static _Atomic int calls_elsewhere;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    calls_elsewhere += !pthread_equal(main_thread, pthread_self());
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
}

static void rest(void)
{
    for (int i = 0; i < 10; i++)
        check_delay();
}

/* It stops half way: outside MPI, and with an error handler of its own Lapwing carries nothing on. */
static void send_slowly(unsigned char *buffer)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 4; i++)
        rest();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Errhandler_free(&handler);
}

static void reduce(MPI_Comm pair)
{
    MPI_Op op;
    MPI_Request requests[REDUCTIONS];
    int ones[REDUCTIONS], sums[REDUCTIONS];
    MPI_Op_create(add, 1, &op);
    rest();
    for (int i = 0; i < REDUCTIONS; i++) {
        ones[i] = 1;
        MPI_Ireduce(&ones[i], &sums[i], 1, MPI_INT, op, 0, pair, &requests[i]);
    }
    rest();
    MPI_Waitall(REDUCTIONS, requests, MPI_STATUSES_IGNORE);
    check(calls_elsewhere == 0, "the thread of its calls");
    check(check_rank() != 0 || sums[REDUCTIONS - 1] == 2, "the sum");
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    MPI_Comm pair;
    check_start(&argc, &argv);
    main_thread = pthread_self();
    unsigned char *buffer = check_buffer_new(LENGTH);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank() == 1, 0, &pair);
    if (check_rank() == 1)
        check_send(buffer, LENGTH, 0, DATA);
    if (check_rank() == 0)
        check_recv(buffer, LENGTH, 1, DATA);
    if (check_rank() == 1)
        send_slowly(buffer);
    else
        reduce(pair);
    if (check_rank() == 0)
        check_recv(buffer, LENGTH, 1, DATA);
    MPI_Comm_free(&pair);
    return check_end();
}
