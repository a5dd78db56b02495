/* SPDX-License-Identifier: MIT */
/* Claim: a wait for a persistent receive that its message is too long for says so where MPI alone does, beside a send
 * under way. Open MPI's MPI_Testall and MPI_Testany do not.
 * defers: send
 * quick: openmpi4 openmpi5 userfaultfd */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = 50, SENT = 100, RECEIVES = 4, TAG = 3, ASK_TAG = 98, LARGE_TAG = 99 };

static unsigned char *large;
static unsigned char room[RECEIVES][SENT];
static MPI_Request requests[RECEIVES];

/* One step of rank 1's, when it is asked: a message for a persistent receive, and then the end of a large send. */
static void play_peer(int length_bytes, int tag)
{
    check_recv(NULL, 0, 0, ASK_TAG);
    if (length_bytes != 0)
        MPI_Send(room[0], length_bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    check_delay();
    check_recv(large, LENGTH, 0, LARGE_TAG);
}

static void play_peers(void)
{
    play_peer(SENT, TAG);
    play_peer(SENT, TAG + 1);
    play_peer(SENT, TAG + 3);
    play_peer(ROOM, TAG + 2);
    play_peer(0, 0);
}

static void send_large(void)
{
    check_send(NULL, 0, 1, ASK_TAG);
    check_send(large, LENGTH, 1, LARGE_TAG);
}

static void tell(const char *call, int error, int index)
{
    printf("%s: class %d, index %d\n", call, check_class(error), index == MPI_UNDEFINED ? -1 : index);
}

static void wait_all(int count, MPI_Request *first)
{
    MPI_Startall(count, first);
    send_large();
    tell("MPI_Waitall", MPI_Waitall(count, first, MPI_STATUSES_IGNORE), 0);
}

static void wait_any(const char *call, int count, MPI_Request *first, MPI_Status *status)
{
    int index = 0;
    send_large();
    int error = MPI_Waitany(count, first, &index, status);
    tell(call, error, index);
}

/* The first is the last to come, and not too long. */
static void wait_for_two(MPI_Request *first)
{
    MPI_Status status;
    int count = 0;
    MPI_Startall(2, first);
    wait_any("MPI_Waitany of two", 2, first, &status);
    wait_any("MPI_Waitany of the other", 2, first, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(status.MPI_SOURCE == 1 && status.MPI_TAG == TAG + 2 && count == ROOM, "its status");
    wait_any("MPI_Waitany of none", 2, first, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    large = check_buffer_new(LENGTH);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Recv_init(room[i], ROOM, MPI_BYTE, 1, TAG + i, MPI_COMM_WORLD, &requests[i]);
    if (check_rank() == 1) {
        play_peers();
    } else if (check_rank() == 0) {
        wait_all(1, &requests[0]);
        MPI_Start(&requests[1]);
        wait_any("MPI_Waitany", 1, &requests[1], MPI_STATUS_IGNORE);
        wait_for_two(&requests[2]);
    }
    for (int i = 0; i < RECEIVES; i++) {
        if (requests[i] != MPI_REQUEST_NULL) /* Open MPI frees one that has failed */
            MPI_Request_free(&requests[i]);
    }
    return check_end();
}
