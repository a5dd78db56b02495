/* SPDX-License-Identifier: MIT */
/* Claim: nothing waits for long for a send whose request was freed, whose receiver needs what the sender does next: a
 * write beside the buffer, a file, a process, a barrier, a receive, a message, a persistent one of a part of it. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PART_BYTES = 1000 };

static unsigned char raw[CHECK_LARGE_BYTES + 3 * 4096];

static void send_part(unsigned char *part)
{
    MPI_Request request;
    MPI_Send_init(part, PART_BYTES, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void send_and_go_on(unsigned char *buffer)
{
    MPI_Request request;
    check_fill(buffer, CHECK_LARGE_BYTES, 3);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    buffer[-1] = buffer[CHECK_LARGE_BYTES] = 1;
    fclose(fopen("/dev/null", "w"));
    pid_t child = fork();
    if (child == 0) {
        buffer[5000] = 1; /* its own copy */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    send_part(buffer + 5000);
    check_recv(&(char){0}, 1, 1, 3); /* no answer */
    check_send(buffer - 1, 1, 1, 1);
    check_recv(&(char){0}, 1, 1, 2); /* else MPICH 4.0 on UCX says at its end that a request was left */
}

static void receive_at_last(unsigned char *buffer)
{
    char byte, part[PART_BYTES];
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(part, PART_BYTES, 0, 4);
    check_send(&(char){0}, 1, 0, 3);
    check_recv(&byte, 1, 0, 1);
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message");
    check_send(&byte, 1, 0, 2);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = raw + 4096 - (size_t)raw % 4096 + 100;
    if (check_rank() == 0)
        send_and_go_on(buffer);
    else
        receive_at_last(buffer);
    return check_end();
}
