/* SPDX-License-Identifier: MIT */
/* Claim: every field of a status is as MPI alone writes it, on every path: the output is
 * compared with that of the stock run. (MPI_ERROR after MPI_Sendrecv_replace is left out:
 * MPI 4.1, 3.2.5, leaves it alone, MPICH writes it.)
 * defers: receive */
#include "check.h"

enum { LENGTH = 400000 };

static unsigned char *buffer;
static MPI_Datatype pair;

static void blank(MPI_Status *status)
{
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = status->MPI_TAG = status->MPI_ERROR = -4711;
}

static void show(const char *path, const MPI_Status *status)
{
    int bytes = -1, ints = -1, pairs = -1, elements = -1, is_cancelled = -1;
    MPI_Count large = -1;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Get_count(status, MPI_INT, &ints);
    MPI_Get_count(status, pair, &pairs);
    MPI_Get_elements(status, pair, &elements);
    MPI_Get_elements_x(status, pair, &large);
    MPI_Test_cancelled(status, &is_cancelled);
    printf("%s: source %d tag %d error %d bytes %d ints %d pairs %d elements %d %lld cancelled %d\n", path,
           status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR, bytes, ints == MPI_UNDEFINED ? -1 : ints,
           pairs == MPI_UNDEFINED ? -1 : pairs, elements == MPI_UNDEFINED ? -1 : elements, (long long)large,
           is_cancelled);
}

static void receive(const char *path, int source, int tag, int is_touched_first)
{
    MPI_Status status;
    blank(&status);
    MPI_Recv(buffer, LENGTH, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    if (is_touched_first)
        buffer[0] = 1;
    show(path, &status);
}

static void receive_ints(void)
{
    MPI_Status status;
    blank(&status);
    MPI_Recv(buffer, LENGTH / 8, pair, 1, 7, MPI_COMM_WORLD, &status);
    show("pairs", &status);
}

static void exchange(const char *path, int source, int tag, int is_replacing)
{
    static unsigned char out[LENGTH];
    MPI_Status status;
    blank(&status);
    if (is_replacing)
        MPI_Sendrecv_replace(buffer, LENGTH, MPI_BYTE, 1, 50, source, tag, MPI_COMM_WORLD, &status);
    else
        MPI_Sendrecv(out, LENGTH, MPI_BYTE, 1, 50, buffer, LENGTH, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    if (is_replacing)
        status.MPI_ERROR = 0;
    show(path, &status);
}

static void matched(void)
{
    MPI_Status status;
    MPI_Message message;
    blank(&status);
    MPI_Mprobe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &message, &status);
    show("Mprobe", &status);
    blank(&status);
    MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, &status);
    show("Mrecv", &status);
    blank(&status);
    MPI_Probe(1, 11, MPI_COMM_WORLD, &status);
    show("Probe", &status);
    receive("after Probe", 1, 11, 0);
}

static void statuses_of_sends(void)
{
    MPI_Status statuses[2];
    MPI_Request requests[2];
    blank(&statuses[0]);
    blank(&statuses[1]);
    MPI_Irecv(buffer, LENGTH, MPI_BYTE, 1, 12, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer + LENGTH / 2, LENGTH / 2, MPI_BYTE, 1, 99, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[1]);
    MPI_Waitall(2, requests, statuses);
    show("Waitall", &statuses[0]);
    int is_cancelled;
    MPI_Test_cancelled(&statuses[1], &is_cancelled);
    printf("cancelled %d\n", is_cancelled);
}

static void send(int length, int tag)
{
    MPI_Send(buffer, length, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
}

static void run_sender(void)
{
    static const int lengths[] = {LENGTH, LENGTH - 4, 300002, 200000, 8192, 0, LENGTH};
    for (int tag = 0; tag < 7; tag++) {
        check_delay();
        send(lengths[tag], tag);
    }
    send(100004, 7);
    for (int i = 0; i < 4; i++) {
        MPI_Sendrecv(buffer, LENGTH - 12 * i, MPI_BYTE, 0, 20 + i, buffer, LENGTH, MPI_BYTE, 0, 50, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (int tag = 10; tag < 13; tag++)
        send(LENGTH / 2, tag);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(LENGTH);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (check_rank() == 1) {
        run_sender();
        return check_end();
    }
    receive("named", 1, 0, 0);
    receive("named, shorter", 1, 1, 1);
    receive("named, odd", 1, 2, 0);
    receive("any source", MPI_ANY_SOURCE, 3, 0);
    receive("any tag", 1, MPI_ANY_TAG, 1);
    receive("any, empty", MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    receive("any of both", MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    receive("nobody", MPI_PROC_NULL, MPI_ANY_TAG, 0);
    receive_ints();
    exchange("Sendrecv", 1, 20, 0);
    exchange("Sendrecv any", MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    exchange("Sendrecv_replace", 1, 22, 1);
    exchange("Sendrecv_replace any", MPI_ANY_SOURCE, MPI_ANY_TAG, 1);
    matched();
    statuses_of_sends();
    MPI_Type_free(&pair);
    return check_end();
}
