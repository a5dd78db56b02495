/* SPDX-License-Identifier: MIT */
/* Claim: a program that asks for PMPI functions by name in the middle of a run, and calls them, loses no message and is
 * told the right counts.
 * flags: -ldl
 * defers: receive */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"

enum { ROUNDS = 20, HALF = CHECK_LARGE_BYTES / 2 };

static unsigned char *sent, *received;
static int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
static int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
static int (*get_count)(const MPI_Status *, MPI_Datatype, int *);

static void find_functions(void)
{
    *(void **)&send = dlsym(RTLD_DEFAULT, "PMPI_Send");
    *(void **)&receive = dlsym(RTLD_DEFAULT, "PMPI_Recv");
    *(void **)&get_count = dlsym(RTLD_DEFAULT, "PMPI_Get_count");
    check(send != NULL && receive != NULL && get_count != NULL, "the functions are there");
}

static void give(unsigned round)
{
    check_delay();
    check_fill(sent, CHECK_LARGE_BYTES, round);
    check_send(sent, HALF, 0, 1);
    check(receive(received, CHECK_LARGE_BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "PMPI");
    check(check_is_filled(received, CHECK_LARGE_BYTES, round + 1), "what came back");
}

static void take(unsigned round)
{
    int count = -1;
    MPI_Status status;
    MPI_Recv(received, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    check(get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == HALF, "the count");
    check(check_is_filled(received, HALF, round), "the message");
    check_fill(sent, CHECK_LARGE_BYTES, round + 1);
    check(send(sent, CHECK_LARGE_BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS, "PMPI_Send");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    sent = check_buffer_new(CHECK_LARGE_BYTES);
    received = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char *first = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        check_recv(first, CHECK_LARGE_BYTES, 1, 0);
    else
        check_send_late(first, CHECK_LARGE_BYTES, 7, 0, 0);
    find_functions();
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            take(round);
        else
            give(round);
    }
    check(check_is_filled(first, CHECK_LARGE_BYTES, 7), "the first message");
    return check_end();
}
