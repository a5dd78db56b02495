/* SPDX-License-Identifier: MIT */
/* Claim: while ranks find out whether early returns of their collectives pay, prove that, and change their minds, data
 * and order are right: of several functions and sizes on several communicators, of which some are new.
 * ranks: 2
 * environment: LAPWING_LEARN=on
 * timeout: 240 */
#include "check.h"

enum { CALLS = 100, SIZES = 2, LATE_EVERY = 5, COMM_EVERY = 30, LATE_US = 1000, WORDS_MOST = 270000 };

static const int words[SIZES] = {60000, WORDS_MOST};
static int sent[WORDS_MOST], received[WORDS_MOST];

static int value(int call, int i)
{
    return call * 31 + i % 1009;
}

static void fill(int *buffer, int count, int call)
{
    for (int i = 0; i < count; i++)
        buffer[i] = value(call, i);
}

static void broadcast(MPI_Comm comm, int count, int call)
{
    int *buffer = check_rank() == call % check_size() ? sent : received;
    fill(sent, count, call);
    MPI_Bcast(buffer, count, MPI_INT, call % check_size(), comm);
    for (int i = 0; i < count; i++)
        check(buffer[i] == value(call, i), "a broadcast brings what was sent");
}

static void add_up(MPI_Comm comm, int count, int call)
{
    fill(sent, count, call);
    MPI_Allreduce(sent, received, count, MPI_INT, MPI_SUM, comm);
    fill(sent, count, call + 1);
    for (int i = 0; i < count; i++)
        check(received[i] == check_size() * value(call, i), "a sum is of what was there at the call");
}

/* In phases in which a rank is late early returns may pay, in others they do not. */
static void work(int call)
{
    bool is_late = call / COMM_EVERY % 2 == 1 && call % LATE_EVERY == 0 && check_rank() == call % check_size();
    double begin_s = MPI_Wtime();
    while (is_late && (MPI_Wtime() - begin_s) * 1e6 < LATE_US)
        continue;
}

static void play(MPI_Comm first, MPI_Comm second, int call)
{
    for (int size = 0; size < SIZES; size++) {
        work(call);
        broadcast(first, words[size], call);
        add_up(second, words[size], call);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < CALLS; call++) {
        if (call % COMM_EVERY == COMM_EVERY - 1) {
            MPI_Comm_free(&comm);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        play(MPI_COMM_WORLD, comm, call);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
