/* SPDX-License-Identifier: MIT */
/* Claim: whatever a rank does after a receive from a named rank, others learn of it after what its sender did before.
 * ranks: 4
 * arguments: send sendrecv receive nonblocking pipe
 * defers: receive
 * quick: userfaultfd-user signal-1
 * timeout: 90 */
#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

enum { TOKEN = 1, DATA = 2, OTHER = 3, ROUNDS = 3, LARGE = CHECK_LARGE_BYTES };
enum { RECEIVER, SENDER, WITNESS, NEIGHBOUR };

static const char *way;
static int pipe_ends; /* open for both */

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

static void tell_message(unsigned char *token, unsigned char own)
{
    MPI_Request request;
    check_fill(token, LARGE, own);
    if (own == SENDER || is_way("receive"))
        MPI_Ssend(token, LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD);
    else if (is_way("nonblocking")) {
        MPI_Isend(token, LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (is_way("sendrecv"))
        MPI_Sendrecv(token, LARGE, MPI_BYTE, WITNESS, TOKEN, token + LARGE, LARGE, MPI_BYTE, NEIGHBOUR, OTHER,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(token, LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD);
}

static void tell(unsigned char *token, unsigned char own)
{
    if (is_way("pipe"))
        check(write(pipe_ends, &own, 1) == 1, "writing");
    else
        tell_message(token, own);
}

static void hear_pipe(void)
{
    unsigned char words[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        check(read(pipe_ends, &words[i], 1) == 1, "reading");
    check(words[0] == SENDER && words[1] == RECEIVER, "the sender's word comes first");
}

static void hear(unsigned char *buffer)
{
    if (is_way("pipe")) {
        hear_pipe();
    } else {
        check_recv(buffer, LARGE, MPI_ANY_SOURCE, TOKEN);
        check_recv(buffer + LARGE, LARGE, MPI_ANY_SOURCE, TOKEN);
        check(check_is_filled(buffer, LARGE, SENDER), "the sender's message comes first");
    }
}

/* Its second message is large and synchronous: it is over only if the receiver has begun to receive it. */
static void neighbour(unsigned char *buffer)
{
    check_fill(buffer, LARGE, OTHER);
    if (is_way("receive")) {
        MPI_Ssend(buffer, LARGE, MPI_BYTE, RECEIVER, OTHER, MPI_COMM_WORLD);
        tell_message(buffer, NEIGHBOUR);
    } else if (is_way("sendrecv")) {
        check_send(buffer, LARGE, RECEIVER, OTHER);
    }
}

static void receive(unsigned char *buffer, unsigned round)
{
    check_recv(buffer, LARGE, SENDER, DATA);
    if (is_way("receive"))
        check_recv(buffer + LARGE, LARGE, NEIGHBOUR, OTHER);
    else
        tell(buffer + LARGE, RECEIVER);
    check(check_is_filled(buffer, LARGE, round), "the message");
    if (is_way("receive"))
        check(check_is_filled(buffer + LARGE, LARGE, OTHER), "the neighbour's message");
    if (is_way("sendrecv"))
        check(check_is_filled(buffer + 2L * LARGE, LARGE, OTHER), "the neighbour's message");
}

static void send(unsigned char *buffer, unsigned round)
{
    check_delay();
    tell(buffer, SENDER);
    check_fill(buffer, LARGE, round);
    check_send(buffer, LARGE, RECEIVER, DATA);
}

static void round_play(unsigned char *buffer, unsigned round)
{
    static void (*const parts[])(unsigned char *, unsigned) = {receive, send};
    int own = check_rank();
    if (own == WITNESS)
        hear(buffer);
    else if (own == NEIGHBOUR)
        neighbour(buffer);
    else
        parts[own](buffer, round);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    unsigned char *buffer = check_buffer_new(3L * LARGE);
    check_fill(buffer, 3L * LARGE, 0);
    if (is_way("pipe"))
        pipe_ends = check_pipe();
    for (unsigned round = 10; round < 10 + ROUNDS; round++) {
        round_play(buffer, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
