/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Waitany tells once of each request, of a persistent collective too, where a large send is among them.
 * arguments: sum barrier
 * quick: mpich5 impi */
#include "check.h"

#if MPI_VERSION >= 4
enum { ROUNDS = 20, REQUESTS = 2, TAG = 5 };

static void collective_make(const char *kind, MPI_Request *request)
{
    static int own = 1, sum;
    if (strcmp(kind, "barrier") == 0)
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request);
    else
        MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static bool is_of_mpich_4(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "MPICH Version:\t4.0") != NULL;
}

static void wait_any(MPI_Request *requests)
{
    int times[REQUESTS] = {0}, index;
    for (int left = REQUESTS; left > 0; left--) {
        MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
        check(index != MPI_UNDEFINED, "not all requests are told of");
        times[index]++;
    }
    for (int i = 0; i < REQUESTS; i++)
        check(times[i] == 1, "each request once");
}

int main(int argc, char **argv)
{
    MPI_Request requests[REQUESTS], receive;
    check_start(&argc, &argv);
    if (is_of_mpich_4())
        return check_skip("MPICH 4.0's MPI_Waitany tells of a persistent collective again and again");
    int peer = 1 - check_rank();
    unsigned char *sent = check_buffer_new(CHECK_LARGE_BYTES), *received = check_buffer_new(CHECK_LARGE_BYTES);
    collective_make(argc > 1 ? argv[1] : "sum", &requests[0]);
    for (int round = 0; round < ROUNDS; round++) {
        check_fill(sent, CHECK_LARGE_BYTES, (unsigned)(2 * round + check_rank()));
        MPI_Start(&requests[0]);
        MPI_Isend(sent, CHECK_LARGE_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
        if (round % 2 == check_rank())
            check_delay();
        MPI_Irecv(received, CHECK_LARGE_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &receive);
        wait_any(requests);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        check(check_is_filled(received, CHECK_LARGE_BYTES, (unsigned)(2 * round + peer)), "the large message");
    }
    MPI_Request_free(&requests[0]);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has none of MPI 4.0's");
}
#endif
