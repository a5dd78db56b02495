/* SPDX-License-Identifier: MIT */
/* Claim: a persistent barrier that is freed is not taken for the small receive that is under way: a large receive into
 * the page of that one is not held, and both bring what was sent.
 * quick: mpich4 mpich5 */
#include "check.h"

#if MPI_VERSION >= 4
enum { SMALL = 8, SMALL_TAG = 1, LARGE_TAG = 2 };

static unsigned char page[SMALL + CHECK_LARGE_BYTES] __attribute__((aligned(4096)));

static void rank_receive(void)
{
    MPI_Request barrier, small;
    MPI_Irecv(page, SMALL, MPI_BYTE, 1, SMALL_TAG, MPI_COMM_WORLD, &small);
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &barrier);
    MPI_Request_free(&barrier);
    check_recv(page + SMALL, CHECK_LARGE_BYTES, 1, LARGE_TAG);
    MPI_Wait(&small, MPI_STATUS_IGNORE);
    check(check_is_filled(page, SMALL, 3), "the small message");
    check(check_is_filled(page + SMALL, CHECK_LARGE_BYTES, 4), "the large message");
}

static void rank_send(void)
{
    static unsigned char small[SMALL], large[CHECK_LARGE_BYTES];
    check_fill(small, SMALL, 3);
    check_fill(large, CHECK_LARGE_BYTES, 4);
    check_delay(); /* the large receive may have returned */
    check_send(small, SMALL, 0, SMALL_TAG);
    check_delay();
    check_send(large, CHECK_LARGE_BYTES, 0, LARGE_TAG);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    (check_rank() == 0 ? rank_receive : rank_send)();
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has none of MPI 4.0's");
}
#endif
