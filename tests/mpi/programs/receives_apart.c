/* SPDX-License-Identifier: MIT */
/* Claim: receives whose data the engine asks for, after their calls have returned, get the right messages in the order
 * of their calls, small ones of the same tag among them, with the right statuses; and no call that follows waits for a
 * sender that waits for them.
 * ranks: 2 3
 * environment: LAPWING_ENGINE_CORES=0-1 */
#include "check.h"

/* Over shared memory Open MPI copies so much in the call that asks for it, and that takes long. */
enum { LARGE = 6000007, SMALL = 5000, ROUNDS = 6, DATA = 1, ANSWER = 2 };

static unsigned char *large, *other, *out, small[SMALL];

static void check_message(const unsigned char *in, const MPI_Status *status, int length, int source, unsigned seed)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(count == length && status->MPI_SOURCE == source && status->MPI_TAG == DATA, "the status");
    check(check_is_filled(in, (size_t)length, seed), "the message of this call");
}

/* Large, small, large: all with one tag. */
static void send_row(int peer, unsigned seed)
{
    check_fill(large, LARGE, seed);
    check_fill(small, SMALL, seed + 1);
    check_fill(other, LARGE, seed + 2);
    check_send(large, LARGE, peer, DATA);
    check_send(small, SMALL, peer, DATA);
    check_send(other, LARGE, peer, DATA);
}

static void receive_row(int peer, unsigned seed, bool is_nonblocking)
{
    MPI_Status statuses[3];
    MPI_Request request;
    MPI_Recv(large, LARGE, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &statuses[0]);
    if (is_nonblocking) {
        MPI_Irecv(small, SMALL, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &request);
        MPI_Recv(other, LARGE, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &statuses[2]);
        MPI_Wait(&request, &statuses[1]);
    } else {
        MPI_Recv(small, SMALL, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &statuses[1]);
        MPI_Recv(other, LARGE, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &statuses[2]);
    }
    check_message(small, &statuses[1], SMALL, peer, seed + 1);
    check_message(other, &statuses[2], LARGE, peer, seed + 2);
    check_message(large, &statuses[0], LARGE, peer, seed);
}

static void exchange(int to, int from, unsigned seed)
{
    MPI_Status status;
    check_fill(out, LARGE, seed + (unsigned)check_rank());
    MPI_Sendrecv(out, LARGE, MPI_BYTE, to, DATA, large, LARGE, MPI_BYTE, from, DATA, MPI_COMM_WORLD, &status);
    check_fill(out, SMALL, 0);
    check_message(large, &status, LARGE, from, seed + (unsigned)from);
}

/* The sender comes to the broadcast when its message is received, and the receiver goes there at once. */
static void meet(unsigned seed)
{
    int own = check_rank(), value = own == 1 ? (int)seed : -1;
    if (own == 1) {
        check_fill(out, LARGE, seed);
        MPI_Ssend(out, LARGE, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
    } else if (own == 0) {
        check_recv(large, LARGE, 1, DATA);
    }
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    check(value == (int)seed, "the broadcast");
    check(own != 0 || check_is_filled(large, LARGE, seed), "the message before it");
}

/* Rank 0 receives from all others; each of its answers comes after what it has received. */
static void round_play(unsigned round)
{
    int own = check_rank(), count = check_size();
    exchange((own + 1) % count, (own + count - 1) % count, round);
    for (int peer = 1; own == 0 && peer < count; peer++) {
        receive_row(peer, round * 8, round % 2 == 0);
        check_send(small, SMALL, peer, ANSWER);
    }
    if (own != 0) {
        send_row(0, round * 8);
        check_recv(small, SMALL, 0, ANSWER);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    large = check_buffer_new(LARGE);
    other = check_buffer_new(LARGE);
    out = check_buffer_new(LARGE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        round_play(round);
        meet(round);
    }
    return check_end();
}
