/* SPDX-License-Identifier: MIT */
/* Claim: a thread that uses its buffer under a lock does not wait there for a peer that needs the call of another
 * thread first, which takes the same lock: with MPI alone the call has waited, before the lock was taken.
 * arguments: send exchange broadcast reduce
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "lock_play.h"

static MPI_Comm beside;

/* The call that the peer waits for. */
static void signal_peer(const struct lock_play *play)
{
    (void)play;
    MPI_Send(&(char){0}, 1, MPI_BYTE, 1, 1, beside);
}

static void await_signal(void)
{
    MPI_Recv(&(char){0}, 1, MPI_BYTE, 0, 1, beside, MPI_STATUS_IGNORE);
}

static void communicate(const struct lock_play *play)
{
    bool is_one_way = strcmp(play->way, "send") == 0;
    if (is_one_way && check_rank() == 0)
        check_send(play->buffer, play->length, 1, 0);
    else if (is_one_way)
        check_recv(play->buffer, play->length, 0, 0);
    else
        lock_play_both_ways(play);
    lock_play_touch(play->buffer, (size_t)play->length);
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    lock_play(&(struct lock_play){
        .way = argc > 1 ? argv[1] : "send", .tell = signal_peer, .be_told = await_signal, .communicate = communicate});
    MPI_Comm_free(&beside);
    return check_end();
}
