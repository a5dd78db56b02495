/* SPDX-License-Identifier: MIT */
/* Claim: what one thread receives does not hold up another thread that starts a request whose memory Lapwing does not
 * know; the sender may complete that one first.
 * flags: -pthread
 * environment: LAPWING_MATCH=off
 * defers: receive
 * quick: mpich4 */
#include <pthread.h>

#include "check.h"

#if MPI_VERSION >= 4
static unsigned char *buffer;
static int words[2];

static void *thread_receive(void *comm)
{
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the message arrived");
    return NULL;
}

static void exchange_words(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check(words[0] == 1 && words[1] == 1, "the words arrived");
}

static void rank_receive(MPI_Comm comm, MPI_Request *request)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    exchange_words(request);
    pthread_join(thread, NULL);
}

static void play(MPI_Comm comm)
{
    static const int counts[] = {1, 1};
    static const int places[] = {0, sizeof(int)};
    static const int ones[] = {1, 1};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Request request;
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Alltoallw_init(ones, counts, places, types, words, counts, places, types, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    if (check_rank() == 0) {
        rank_receive(comm, &request);
    } else {
        check_fill(buffer, CHECK_LARGE_BYTES, 7);
        exchange_words(&request);
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 5, comm);
    }
    MPI_Request_free(&request);
}
#else
static void play(MPI_Comm comm)
{
    (void)comm;
    exit(77); /* skipped: this MPI has no such request */
}
#endif

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    play(comm);
    MPI_Comm_free(&comm);
    return check_end();
}
