/* SPDX-License-Identifier: MIT */
/* Claim: below MPI_THREAD_MULTIPLE, too, a thread that uses its buffer under a lock does not wait there for a peer that
 * waits for another thread, which takes that lock before it tells the peer so past MPI. Nor does that thread wait where
 * it uses what lies beside the buffer.
 * arguments: receive nonblocking send isend waitany exchange broadcast reduce beside
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "lock_play.h"

enum { BESIDE_BYTES = 16 };

static int ends;

static bool way_is(const struct lock_play *play, const char *way)
{
    return strcmp(play->way, way) == 0;
}

/* What the peer waits for. */
static void tell_peer(const struct lock_play *play)
{
    if (way_is(play, "beside"))
        play->buffer[play->length - BESIDE_BYTES]++;
    check(write(ends, "", 1) == 1, "the peer is told");
}

static void be_told(void)
{
    check(read(ends, &(char){0}, 1) == 1, "this rank is told");
}

static void receive_by_wait(const struct lock_play *play)
{
    MPI_Request request;
    MPI_Irecv(play->buffer, play->length, MPI_BYTE, 1 - check_rank(), 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_by_wait(const struct lock_play *play)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index;
    MPI_Isend(play->buffer, play->length, MPI_BYTE, 1 - check_rank(), 0, MPI_COMM_WORLD, &requests[1]);
    if (way_is(play, "waitany"))
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void communicate_one_way(const struct lock_play *play)
{
    bool is_waited_for = way_is(play, "isend") || way_is(play, "waitany");
    bool is_sender = (way_is(play, "send") || is_waited_for) == (check_rank() == 0);
    int beside_bytes = way_is(play, "beside") ? BESIDE_BYTES : 0;
    if (is_sender && is_waited_for)
        send_by_wait(play);
    else if (is_sender)
        check_send(play->buffer, play->length - beside_bytes, 1 - check_rank(), 0);
    else if (way_is(play, "nonblocking"))
        receive_by_wait(play);
    else
        check_recv(play->buffer, play->length - beside_bytes, 1 - check_rank(), 0);
}

static void communicate(const struct lock_play *play)
{
    if (way_is(play, "exchange") || way_is(play, "broadcast") || way_is(play, "reduce"))
        lock_play_both_ways(play);
    else
        communicate_one_way(play);
    if (!way_is(play, "beside"))
        lock_play_touch(play->buffer, (size_t)play->length);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ends = check_pipe();
    lock_play(&(struct lock_play){
        .way = argc > 1 ? argv[1] : "receive", .tell = tell_peer, .be_told = be_told, .communicate = communicate});
    return check_end();
}
