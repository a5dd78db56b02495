/* SPDX-License-Identifier: MIT */
/* Claim: many threads may touch a received buffer together, and those that write beside a receive, in its pages, lose
 * nothing.
 * flags: -fopenmp
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <omp.h>

#include "check.h"

static volatile bool is_wrong;

static void touch_together(void)
{
    enum { COUNT = 10 };
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < COUNT; i++) {
        if (check_rank() == 1) {
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, 0);
            continue;
        }
        long wrong = 0;
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
        for (size_t at = 0; at < CHECK_LARGE_BYTES; at++)
            wrong += buffer[at] != check_byte(at, i);
        check(wrong == 0, "every thread sees the message");
    }
}

static void write_beside(void)
{
    enum { LENGTH = 100001, THREADS = 4 };
    unsigned char *room = check_buffer_new(LENGTH + 2 * THREADS);
    for (int i = 0; i < 20; i++) {
        if (check_rank() == 1) {
            check_fill(room, LENGTH, i);
            check_send(room, LENGTH, 0, 0);
            continue;
        }
        bool is_received = false;
#pragma omp parallel num_threads(THREADS + 1)
        {
            int me = omp_get_thread_num();
            if (me == 0)
                check_recv(room + THREADS, LENGTH, 1, 0);
            for (int turn = 0; me > 0 && turn < 1000; turn++) {
                room[me - 1] = (unsigned char)turn;
                room[THREADS + LENGTH + me - 1] = (unsigned char)(turn + 1);
                is_wrong |= *(volatile unsigned char *)&room[me - 1] != (unsigned char)turn;
            }
        }
        is_received = check_is_filled(room + THREADS, LENGTH, i);
        check(is_received && !is_wrong, "message and neighbours");
        check(room[0] == (unsigned char)999 && room[THREADS + LENGTH] == (unsigned char)1000, "the last writes stay");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    write_beside(); /* first: the process gets its threads while it receives */
    MPI_Barrier(MPI_COMM_WORLD);
    touch_together();
    return check_end();
}
