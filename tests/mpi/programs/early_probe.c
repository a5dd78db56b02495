/* SPDX-License-Identifier: MIT */
/* Claim: probes find messages that were received early, oldest first, and what they tell is what is received
 * then.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, DATA = 2, LENGTH = 500001 };

static void probe(int way, MPI_Status *status)
{
    int is_found = 0;
    int source = way % 2 ? MPI_ANY_SOURCE : 1;
    if (way < 2)
        MPI_Probe(source, MPI_ANY_TAG, MPI_COMM_WORLD, status);
    while (way >= 2 && !is_found)
        MPI_Iprobe(source, way == 2 ? DATA : MPI_ANY_TAG, MPI_COMM_WORLD, &is_found, status);
}

static void receive(unsigned char *buffer, int way, unsigned seed)
{
    MPI_Status status;
    int count = -1;
    probe(way, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(status.MPI_SOURCE == 1 && status.MPI_TAG == DATA && count == LENGTH - (int)seed, "what the probe tells");
    check_recv(buffer, (size_t)count, status.MPI_SOURCE, status.MPI_TAG);
    check(check_is_filled(buffer, (size_t)count, seed), "what was received");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            check_delay();
        for (unsigned i = 0; i < 3; i++) {
            check_fill(buffer, LENGTH, i);
            if (check_rank() == 1)
                check_send(buffer, LENGTH - i, 0, DATA);
            else
                receive(buffer, round, i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
