/* SPDX-License-Identifier: MIT */
/* Claim: a message that was received early is still there for what MPI_Finalize calls first: functions that delete
 * attributes of MPI_COMM_SELF.
 * quick: default userfaultfd signal-1
 * flags: -Wno-unused-parameter
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { DATA = 2, LENGTH = 600000 };

static unsigned char *buffer;

static int receive(MPI_Comm comm, int key, void *value, void *extra)
{
    check_recv(buffer, LENGTH, 1, DATA);
    check(check_is_filled(buffer, LENGTH, 1), "the last message");
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    check_start(&argc, &argv);
    buffer = check_buffer_new(LENGTH);
    for (unsigned i = 0; check_rank() == 1 && i < 2; i++) {
        check_fill(buffer, LENGTH, i);
        check_send(buffer, LENGTH, 0, DATA);
    }
    if (check_rank() == 0) {
        check_recv(buffer, LENGTH, 1, DATA);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        check_delay();
    }
    return check_end();
}
