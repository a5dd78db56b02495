/* SPDX-License-Identifier: MIT */
/* Claim: threads that write beside a pending receive, in its pages, lose nothing.
 * flags: -fopenmp */
#include <omp.h>

#include "check.h"

static volatile bool is_wrong;

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
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
    return check_end();
}
