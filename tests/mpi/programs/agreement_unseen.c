/* SPDX-License-Identifier: MIT */
/* Claim: a tool's own functions of MPI do not see the messages by which ranks find out in MPI_Init whether all have
 * this Lapwing.
 * library: yes
 * arguments: all
 * agrees: all
 * ranks: 3 4
 * records: none
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

#if defined(LIBRARY)
#define UNUSED __attribute__((unused))

static int fail(const char *function)
{
    fprintf(stderr, "FAILED: %s, which the program never calls\n", function);
    abort();
}

int MPI_Send(UNUSED const void *buffer, UNUSED int count, UNUSED MPI_Datatype datatype, UNUSED int peer, UNUSED int tag,
             UNUSED MPI_Comm comm)
{
    return fail("MPI_Send");
}

int MPI_Isend(UNUSED const void *buffer, UNUSED int count, UNUSED MPI_Datatype datatype, UNUSED int peer,
              UNUSED int tag, UNUSED MPI_Comm comm, UNUSED MPI_Request *request)
{
    return fail("MPI_Isend");
}

int MPI_Recv(UNUSED void *buffer, UNUSED int count, UNUSED MPI_Datatype datatype, UNUSED int peer, UNUSED int tag,
             UNUSED MPI_Comm comm, UNUSED MPI_Status *status)
{
    return fail("MPI_Recv");
}

int MPI_Irecv(UNUSED void *buffer, UNUSED int count, UNUSED MPI_Datatype datatype, UNUSED int peer, UNUSED int tag,
              UNUSED MPI_Comm comm, UNUSED MPI_Request *request)
{
    return fail("MPI_Irecv");
}

int MPI_Wait(UNUSED MPI_Request *request, UNUSED MPI_Status *status)
{
    return fail("MPI_Wait");
}

int MPI_Test(UNUSED MPI_Request *request, UNUSED int *is_over, UNUSED MPI_Status *status)
{
    return fail("MPI_Test");
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
#endif
