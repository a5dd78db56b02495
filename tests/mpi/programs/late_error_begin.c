/* SPDX-License-Identifier: MIT */
/* Claim: the late error of a receive is returned by no call that begins or makes something, nor by one that few
 * programs ask for its code, but by the next that completes something.
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

enum { TOO_LONG = 1, WORD = 2, NUMBER = 42 };

/* A persistent request, a type, a group and a communicator; those that other ranks need not make. */
static void make_all(int *word, MPI_Request *persistent)
{
    MPI_Datatype pair;
    MPI_Group group;
    MPI_Comm alone;
    int size = 0;
    check(MPI_Recv_init(word, 1, MPI_INT, 1, WORD, MPI_COMM_WORLD, persistent) == MPI_SUCCESS, "MPI_Recv_init");
    check(MPI_Type_contiguous(2, MPI_INT, &pair) == MPI_SUCCESS, "MPI_Type_contiguous");
    check(MPI_Type_size(pair, &size) == MPI_SUCCESS, "MPI_Type_size");
    check(MPI_Type_free(&pair) == MPI_SUCCESS, "MPI_Type_free");
    check(MPI_Comm_group(MPI_COMM_WORLD, &group) == MPI_SUCCESS, "MPI_Comm_group");
    check(MPI_Group_free(&group) == MPI_SUCCESS, "MPI_Group_free");
    check(MPI_Comm_dup(MPI_COMM_SELF, &alone) == MPI_SUCCESS, "MPI_Comm_dup");
    check(MPI_Comm_free(&alone) == MPI_SUCCESS, "MPI_Comm_free");
}

static void rank_receive(unsigned char *buffer)
{
    MPI_Request request = MPI_REQUEST_NULL, persistent = MPI_REQUEST_NULL;
    MPI_Status status;
    int first = 0, second = 0, count;
    int own = MPI_Recv(buffer, CHECK_LARGE_BYTES / 2, MPI_BYTE, 1, TOO_LONG, MPI_COMM_WORLD, &status);
    buffer[0]++; /* a touch: its error is there before the next call */
    check(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS, "MPI_Get_count");
    make_all(&second, &persistent);
    check(MPI_Irecv(&first, 1, MPI_INT, 1, WORD, MPI_COMM_WORLD, &request) == MPI_SUCCESS, "MPI_Irecv");
    check(MPI_Start(&persistent) == MPI_SUCCESS, "MPI_Start");
    int late = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(own != MPI_SUCCESS || late != MPI_SUCCESS, "the truncation is reported");
    check(MPI_Wait(&persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS, "once");
    check(first == NUMBER && second == NUMBER, "both words");
    MPI_Request_free(&persistent);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        rank_receive(buffer);
        return check_end();
    }
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, TOO_LONG);
    for (int i = 0; i < 2; i++)
        check_send(&(int){NUMBER}, sizeof(int), 0, WORD);
    return check_end();
}
