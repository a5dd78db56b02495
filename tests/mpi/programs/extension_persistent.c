/* SPDX-License-Identifier: MIT */
/* Claim: while a persistent collective of Open MPI's extension is under way, a message beside its buffer neither stands
 * in its way nor is spoilt by it. */
#include "check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
enum { LENGTH = 1 << 20, NUMBERS = 64, ROUNDS = 5 };

static struct {
    unsigned char message[LENGTH + 100];
    int sums[NUMBERS], numbers[NUMBERS];
} m __attribute__((aligned(4096)));

static void turn(MPI_Request *request, unsigned seed)
{
    memset(m.sums, 0, sizeof m.sums);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1)
        check_delay();
    MPI_Start(request);
    if (check_rank() == 0) {
        check_recv(m.message, sizeof m.message, 1, 0);
        check_delay();
    } else {
        check_fill(m.message, sizeof m.message, seed);
        check_delay();
        check_send(m.message, sizeof m.message, 0, 0);
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check(m.sums[0] == 2 && m.sums[NUMBERS - 1] == 2, "sums");
    check(check_is_filled(m.message, sizeof m.message, seed), "message");
}

int main(int argc, char **argv)
{
    MPI_Request request;
    check_start(&argc, &argv);
    for (int i = 0; i < NUMBERS; i++)
        m.numbers[i] = 1;
    MPIX_Allreduce_init(m.numbers, m.sums, NUMBERS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (unsigned i = 0; i < ROUNDS; i++)
        turn(&request, i);
    MPI_Request_free(&request);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has no such extension");
}
#endif
