/* SPDX-License-Identifier: MIT */
/* Claim: sends to one peer arrive whole and in the order of the calls: large ones, those of mixed sizes, some too small
 * to be held, overlapping parts of one buffer, and more of them pending than any table holds.
 * defers: send */
#include "check.h"

static void send_large(void)
{
    enum { COUNT = 6 };
    unsigned char *buffers[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        check_fill(buffers[i], CHECK_LARGE_BYTES, i);
        check_send(buffers[i], CHECK_LARGE_BYTES, 1, 5);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++)
        check_recv(buffers[i], CHECK_LARGE_BYTES, 0, 5);
    for (int i = 0; i < COUNT; i++)
        check(check_is_filled(buffers[i], CHECK_LARGE_BYTES, i), "message i holds what send i sent");
}

static void send_sizes(void)
{
    enum { COUNT = 40 };
    static const size_t sizes[] = {1, 300000, 100, 70000, 5000, 1 << 20, 8, 65536};
    for (int i = 0; i < COUNT; i++) {
        size_t length = sizes[i % 8];
        unsigned char *buffer = check_buffer_new(length);
        if (check_rank() == 0) {
            check_fill(buffer, length, i);
            check_send(buffer, length, 1, 5);
        } else {
            check_recv(buffer, length, 0, 5);
            check(check_is_filled(buffer, length, i), "message i, of mixed sizes, holds what send i sent");
        }
        free(buffer);
    }
}

static void send_overlapping(void)
{
    enum { COUNT = 8, LENGTH = 300000, STEP = 33333, ROOM = LENGTH + COUNT * STEP };
    unsigned char *buffer = check_buffer_new(ROOM);
    if (check_rank() == 0) {
        check_fill(buffer, ROOM, 1);
        for (int i = 0; i < COUNT; i++)
            check_send(buffer + i * STEP, LENGTH, 1, i);
        memset(buffer, 0, ROOM);
        return;
    }
    check_delay();
    for (int i = 0; i < COUNT; i++) {
        check_recv(buffer, LENGTH, 0, i);
        for (size_t at = 0; at < LENGTH; at++)
            check(buffer[at] == check_byte(at + i * STEP, 1), "part i of the buffer as it was at send i");
    }
}

static void send_many(void)
{
    enum { COUNT = 400, LENGTH = 70000 };
    unsigned char *room = check_buffer_new((size_t)COUNT * LENGTH);
    MPI_Request requests[COUNT];
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        check_fill(room + (size_t)i * LENGTH, LENGTH, i);
        check_send(room + (size_t)i * LENGTH, LENGTH, 1, 0);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        if (i % 3)
            MPI_Irecv(room + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv(room + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        if (i % 3)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check(check_is_filled(room + (size_t)i * LENGTH, LENGTH, i), "message i of many");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    send_large();
    send_sizes();
    send_overlapping();
    MPI_Barrier(MPI_COMM_WORLD);
    send_many();
    return check_end();
}
