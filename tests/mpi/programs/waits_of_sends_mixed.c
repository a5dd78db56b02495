/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitall of sends from one buffer, of one from a part of it, and of receives leaves null requests, the
 * receives' messages with their statuses, and the sends' bytes as they were.
 * defers: send */
#include "check.h"

enum { SENDS = 4, RECEIVES = 3, COUNT = SENDS + RECEIVES, SMALL = 5000, PART = 300001, AT = 12345 };

static void begin(unsigned char *out, unsigned char *in, MPI_Request requests[COUNT])
{
    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(in + i * SMALL, SMALL, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, 10, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out + AT, PART, MPI_BYTE, 1, 11, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, 12, MPI_COMM_WORLD, &requests[5]);
    MPI_Isend(out, 10, MPI_BYTE, 1, 13, MPI_COMM_WORLD, &requests[6]);
}

static void end(MPI_Request requests[COUNT], const unsigned char *in)
{
    MPI_Status statuses[COUNT];
    int count;
    MPI_Waitall(COUNT, requests, statuses);
    for (int i = 0; i < COUNT; i++)
        check(requests[i] == MPI_REQUEST_NULL, "all requests are null");
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Get_count(&statuses[2 * i], MPI_BYTE, &count);
        check(count == SMALL - i && statuses[2 * i].MPI_TAG == i, "a receive's status");
        check(check_is_filled(in + i * SMALL, SMALL - i, i), "a received message");
    }
}

static void answer(unsigned char *out, unsigned char *in)
{
    for (int i = 0; i < RECEIVES; i++) {
        check_fill(out, SMALL, i);
        check_send(out, SMALL - i, 0, i);
    }
    check_delay();
    check_recv(in, 10, 0, 13);
    check_recv(in, CHECK_LARGE_BYTES, 0, 12);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 7), "the buffer");
    check_recv(in, PART, 0, 11);
    for (size_t i = 0; i < PART; i++)
        check(in[i] == check_byte(i + AT, 7), "its part");
    check_recv(in, CHECK_LARGE_BYTES, 0, 10);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 7), "the buffer once more");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request requests[COUNT];
    for (int i = 0; i < 4; i++) {
        if (check_rank() == 1) {
            answer(out, in);
            continue;
        }
        check_fill(out, CHECK_LARGE_BYTES, 7);
        begin(out, in, requests);
        end(requests, in);
        memset(out, 0, CHECK_LARGE_BYTES);
    }
    return check_end();
}
