/* SPDX-License-Identifier: MIT */
/* Claim: the wait of a receive that is held from its start, and whose message is too long for it, tells of that on the
 * receive's own communicator; MPI_COMM_WORLD, whose handler would end the job, does not hear of it.
 * arguments: before between after
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: mpich5 mpi5abi */
#include "check.h"

enum { LENGTH = 200000, ROOM = 150000, DATA = 3, ROUNDS = 3 };

static const char *way;

/* The message is there before the receive, or comes between that and its wait, or only after. */
static void delay_where(const char *name)
{
    if (strcmp(way, name) == 0)
        check_delay();
}

static void receive(unsigned char *buffer, MPI_Comm comm)
{
    MPI_Request request;
    delay_where("before");
    MPI_Irecv(buffer, ROOM, MPI_BYTE, 0, DATA, comm, &request);
    delay_where("between");
    int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    buffer[0]++; /* a touch: the op is over now */
    check(check_class_or_late(error, comm) == MPI_ERR_TRUNCATE, "the wait, or the next call, reports it");
}

static bool is_told_of_world(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "MPICH Version:\t4.0") != NULL || strstr(version, "Intel") != NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm own;
    check_start(&argc, &argv);
    if (is_told_of_world())
        return check_skip("this MPI tells MPI_COMM_WORLD of it");
    way = argc > 1 ? argv[1] : "after";
    unsigned char *buffer = check_buffer_new(LENGTH);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0) {
            delay_where("after");
            MPI_Send(buffer, LENGTH, MPI_BYTE, 1, DATA, own);
        } else if (check_rank() == 1) {
            receive(buffer, own);
        }
    }
    MPI_Comm_free(&own);
    return check_end();
}
