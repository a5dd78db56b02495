/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitall of large receives and sends, of a receive from any source and of one that is truncated leaves null
 * requests and exact statuses; the truncation is told by it or by the next call, and the others' messages are there.
 * arguments: whole truncated
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * defers: receive */
#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, ANY = 0, NAMED = 1, OUT = 2, SHORT = 3, COUNT = 4, ROUNDS = 5, LESS = 5000 };

static void begin(unsigned char *in[COUNT], const unsigned char *out, int room, MPI_Request requests[COUNT])
{
    MPI_Irecv(in[ANY], LARGE, MPI_BYTE, MPI_ANY_SOURCE, ANY, MPI_COMM_WORLD, &requests[ANY]);
    MPI_Irecv(in[NAMED], room, MPI_BYTE, 1, NAMED, MPI_COMM_WORLD, &requests[NAMED]);
    MPI_Isend(out, LARGE, MPI_BYTE, 1, OUT, MPI_COMM_WORLD, &requests[OUT]);
    MPI_Irecv(in[SHORT], LARGE, MPI_BYTE, 1, SHORT, MPI_COMM_WORLD, &requests[SHORT]);
}

static void check_status(const MPI_Status *status, int tag, int length)
{
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(status->MPI_SOURCE == 1 && status->MPI_TAG == tag && count == length, "a receive's status");
}

static void receive(unsigned char *in[COUNT], unsigned char *out, bool is_truncated)
{
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT];
    check_fill(out, LARGE, OUT);
    begin(in, out, is_truncated ? LARGE / 2 : LARGE, requests);
    int error = MPI_Waitall(COUNT, requests, statuses);
    if (is_truncated && error == MPI_ERR_IN_STATUS)
        error = statuses[NAMED].MPI_ERROR;
    in[NAMED][0]++; /* a touch: the receive is over now */
    if (is_truncated)
        check(check_class_or_late(error, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE, "the truncation");
    for (int i = 0; i < COUNT; i++)
        while (requests[i] != MPI_REQUEST_NULL) /* what MPI left pending beside the error */
            MPI_Wait(&requests[i], &statuses[i]);
    check_status(&statuses[ANY], ANY, LARGE);
    check_status(&statuses[SHORT], SHORT, LARGE - LESS);
    in[NAMED][0]--;
    if (!is_truncated) {
        check_status(&statuses[NAMED], NAMED, LARGE);
        check(check_is_filled(in[NAMED], LARGE, NAMED), "the named one");
    }
    check(check_is_filled(in[ANY], LARGE, ANY), "the one from any source");
    check(check_is_filled(in[SHORT], LARGE - LESS, SHORT), "the short one");
}

static void send(unsigned char *buffer)
{
    for (unsigned tag = 0; tag < COUNT; tag++) {
        size_t length = tag == SHORT ? LARGE - LESS : LARGE;
        if (tag == OUT) {
            check_recv_late(buffer, LARGE, OUT, 0, OUT, "what the receiver sends");
            continue;
        }
        check_fill(buffer, length, tag);
        check_delay();
        check_send(buffer, length, 0, (int)tag);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *in[COUNT], *out = check_buffer_new(LARGE);
    for (int i = 0; i < COUNT; i++)
        in[i] = check_buffer_new(LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            receive(in, out, strcmp(argv[1], "truncated") == 0);
        else
            send(in[0]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
