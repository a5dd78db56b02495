/* SPDX-License-Identifier: MIT */
/* Claim: a program that has freed the request of a send may take its receiver's answer as proof that the send is over
 * (MPI 4.1, 3.7.3): it may write the buffer, wherever it lies, unmap it, or free it; or have MPI write there, in a
 * collective (`gathered`).
 * arguments: write unmap free beside stack tested synchronous persistent multiple restarted looked ssend gathered
 * environment: LAPWING_MATCH=off
 * defers: receive */
#include <sys/mman.h>

#include "check.h"

enum { ROUNDS = 5 };

static const char *way;

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

static void send_freed(unsigned char *buffer)
{
    MPI_Request request;
    if (is_way("synchronous"))
        MPI_Issend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    else if (is_way("persistent"))
        MPI_Send_init(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    if (is_way("persistent"))
        MPI_Start(&request);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL, "the handle is null");
}

static void have_written(unsigned char *buffer)
{
    char own = 7;
    MPI_Allgather(&own, 1, MPI_BYTE, buffer, 1, MPI_BYTE, MPI_COMM_WORLD);
    check(buffer[0] == own, "what MPI wrote");
}

static void use_again(unsigned char *buffer)
{
    if (is_way("gathered"))
        have_written(buffer);
    if (is_way("unmap"))
        munmap(buffer, CHECK_LARGE_BYTES);
    else
        memset(buffer, 0xAA, CHECK_LARGE_BYTES);
    if (is_way("free"))
        free(buffer);
}

static unsigned char *buffer_new(void)
{
    enum { BESIDE_BYTES = 100 };
    if (is_way("beside") || is_way("tested") || is_way("restarted") || is_way("looked") || is_way("ssend"))
        return check_buffer_new(CHECK_LARGE_BYTES + 2 * BESIDE_BYTES) + BESIDE_BYTES;
    if (!is_way("unmap"))
        return check_buffer_new(CHECK_LARGE_BYTES);
    return mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The other calls that tell of an answer. */
static void await_tested(void)
{
    MPI_Request request;
    char answer;
    int is_there = 0;
    MPI_Irecv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    while (!is_there)
        MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
}

static void await_restarted(void)
{
    MPI_Request request;
    char answer;
    MPI_Recv_init(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* The request is completed when the buffer has been used again (`looked`). */
static MPI_Request await_looked(void)
{
    static char answer;
    MPI_Request request;
    int is_there = 0;
    MPI_Irecv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    while (!is_there)
        MPI_Request_get_status(request, &is_there, MPI_STATUS_IGNORE);
    return request;
}

/* Null, or a request that is over. */
static MPI_Request await_answer(void)
{
    if (is_way("looked"))
        return await_looked();
    if (is_way("tested"))
        await_tested();
    else if (is_way("restarted"))
        await_restarted();
    else if (is_way("ssend")) /* that its receive has begun says that the one before is over */
        MPI_Ssend(&(char){0}, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        check_recv(&(char){0}, 1, 1, 1);
    return MPI_REQUEST_NULL;
}

static void rank_send(unsigned round, unsigned char *buffer)
{
    check_fill(buffer, CHECK_LARGE_BYTES, round);
    check_delay(); /* the receive may have returned */
    send_freed(buffer);
    MPI_Request answer = await_answer();
    use_again(buffer);
    MPI_Wait(&answer, MPI_STATUS_IGNORE);
}

static void rank_receive(unsigned round, unsigned char *buffer)
{
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    if (is_way("ssend"))
        check_recv(&(char){0}, 1, 0, 1);
    else
        check_send(&(char){0}, 1, 0, 1);
    char own = 7, all[2];
    if (is_way("gathered"))
        MPI_Allgather(&own, 1, MPI_BYTE, all, 1, MPI_BYTE, MPI_COMM_WORLD);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message as it was sent");
}

int main(int argc, char **argv)
{
    way = argv[argc - 1];
    if (is_way("multiple"))
        check_start_multiple(&argc, &argv);
    else
        check_start(&argc, &argv);
    unsigned char stack[CHECK_LARGE_BYTES], *buffer = check_rank() == 0 && is_way("stack") ? stack : buffer_new();
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (check_rank() == 0)
            rank_send(round, buffer);
        else
            rank_receive(round, buffer);
        if (check_rank() == 0 && (is_way("unmap") || is_way("free")))
            buffer = buffer_new();
    }
    return check_end();
}
