/* SPDX-License-Identifier: MIT */
/* Claim: the poll function of a generalized request of MPICH's extension, which runs inside MPI_Wait, may use a message
 * whose MPI_Recv has returned before. */
#include "check.h"

#if defined(MPICH_NUMVERSION)
static unsigned char *message;
static MPI_Request request;
static int seen = -1;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

static int look(void *state, MPI_Status *status)
{
    (void)state;
    (void)status;
    if (seen >= 0)
        return MPI_SUCCESS;
    seen = message[CHECK_LARGE_BYTES - 1];
    return MPI_Grequest_complete(request);
}

static int wait(int count, void **states, double timeout_s, MPI_Status *status)
{
    (void)timeout_s;
    for (int i = 0; i < count; i++)
        look(states[i], status);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    enum { VALUE = 5 };
    check_start(&argc, &argv);
    message = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        memset(message, VALUE, CHECK_LARGE_BYTES);
        check_delay();
        check_send(message, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    check_recv(message, CHECK_LARGE_BYTES, 1, 0);
    MPIX_Grequest_start(query, release, cancel, look, wait, NULL, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(seen == VALUE, "the function saw the message");
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has no such extension");
}
#endif
