/* SPDX-License-Identifier: MIT */
/* Claim: even when the sender waits for it first, a thread may use what lies beside the message that another thread
 * receives (the rest of its heap block, bytes of its pages, and the gaps of its type, also where the message ends with
 * its heap block).
 * flags: -pthread
 * arguments: block page gaps
 * passes: memory_neighbours
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = 100000, BEFORE = 100, ROWS = 50, ROW = LENGTH / ROWS, STRIDE = ROW + 1000 };

static struct {
    unsigned char *message;
    MPI_Datatype type;
    int count;        /* of that type */
    int joined_bytes; /* of the message, at its begin */
    volatile unsigned char *beside[2];
} place;

static MPI_Comm comm;

static void place_block(void)
{
    place.message = malloc(LENGTH + 1);
    place.beside[0] = place.beside[1] = place.message + LENGTH;
}

static void place_page(void)
{
    unsigned char *memory = mmap(NULL, 2 * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    place.message = memory + BEFORE;
    place.beside[0] = memory;
    place.beside[1] = place.message + LENGTH;
}

static void place_gaps(void)
{
    place.message = check_buffer_new((ROWS - 1) * STRIDE + ROW);
    MPI_Type_vector(ROWS, ROW, STRIDE, MPI_BYTE, &place.type);
    MPI_Type_commit(&place.type);
    place.count = 1;
    place.joined_bytes = ROW;
    place.beside[0] = place.beside[1] = place.message + ROW + 10;
}

static void place_make(const char *way)
{
    place.type = MPI_BYTE;
    place.count = place.joined_bytes = LENGTH;
    if (strcmp(way, "block") == 0)
        place_block();
    else if (strcmp(way, "page") == 0)
        place_page();
    else
        place_gaps();
    *place.beside[0] = *place.beside[1] = 1;
}

static void *thread_receive(void *unused)
{
    MPI_Recv(place.message, place.count, place.type, 1, 5, comm, MPI_STATUS_IGNORE);
    check(check_is_filled(place.message, place.joined_bytes, 7), "the message arrived");
    return unused;
}

static void rank_receive(const char *way)
{
    pthread_t thread;
    place_make(way);
    pthread_create(&thread, NULL, thread_receive, NULL);
    check_delay(); /* the receive has begun */
    *place.beside[0] = *place.beside[1] = 2;
    check_send((void *)place.beside[0], 1, 1, 6);
    pthread_join(thread, NULL);
    check(*place.beside[0] == 2 && *place.beside[1] == 2, "the bytes beside are as written");
}

int main(int argc, char **argv)
{
    char byte = 0;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0) {
        rank_receive(argv[1]);
    } else {
        unsigned char *buffer = check_buffer_new(LENGTH);
        check_fill(buffer, LENGTH, 7);
        check_recv(&byte, 1, 0, 6);
        check(byte == 2, "the byte beside, sent");
        MPI_Send(buffer, LENGTH, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
