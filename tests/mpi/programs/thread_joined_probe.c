/* SPDX-License-Identifier: MIT */
/* Claim: what was sent before a message can be probed by one thread once another one has received that message.
 * flags: -pthread */
#include <pthread.h>

#include "check.h"

enum { TOKEN = 1, DATA = 2, ROUNDS = 3 };

static unsigned char *buffer;

static void *thread_receive(void *unused)
{
    check_recv(buffer, CHECK_LARGE_BYTES, 1, DATA);
    return unused;
}

static void rank_probe(void)
{
    pthread_t thread;
    int is_there = 0, token = 0;
    pthread_create(&thread, NULL, thread_receive, NULL);
    pthread_join(thread, NULL);
    MPI_Iprobe(1, TOKEN, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    check(is_there, "the token was sent before");
    check_recv(&token, sizeof token, 1, TOKEN);
}

static void rank_send(void)
{
    MPI_Request request;
    int token = 1;
    check_delay();
    MPI_Isend(&token, 1, MPI_INT, 0, TOKEN, MPI_COMM_WORLD, &request);
    check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0)
            rank_probe();
        else
            rank_send();
    }
    return check_end();
}
