/* SPDX-License-Identifier: MIT */
/* Claim: a ready send begins only when the message has been sent that tells of the receiver's being ready.
 * defers: receive */
#include "check.h"

#include <time.h>

enum { READY = 1, ANSWER = 2, TIME = 3 };
enum kind { RSEND, IRSEND, START, KINDS };

/* The ranks are on one host: this clock is the same for both (MPI_Wtime need not be). */
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void answer(enum kind kind)
{
    int word = 5;
    MPI_Request request = MPI_REQUEST_NULL;
    if (kind == RSEND)
        MPI_Rsend(&word, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
    else if (kind == IRSEND)
        MPI_Irsend(&word, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD, &request);
    else
        MPI_Rsend_init(&word, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD, &request);
    if (kind == START)
        MPI_Start(&request);
    double began_s = now_s(), ready_s;
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&ready_s, 1, MPI_DOUBLE, 1, TIME, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(began_s >= ready_s, "the answer comes after the question");
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

static void ask(unsigned char *buffer)
{
    int word = 0;
    MPI_Request request;
    check_delay();
    MPI_Irecv(&word, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, &request);
    double ready_s = now_s();
    check_send(buffer, CHECK_LARGE_BYTES, 0, READY);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(word == 5, "the answer");
    MPI_Send(&ready_s, 1, MPI_DOUBLE, 0, TIME, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (enum kind kind = RSEND; kind < KINDS; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            ask(buffer);
        } else {
            check_recv(buffer, CHECK_LARGE_BYTES, 1, READY);
            answer(kind);
        }
    }
    return check_end();
}
