/* SPDX-License-Identifier: MIT */
/* Claim: an attribute of MPI_COMM_SELF is copied only by the program, and deleted only once: in MPI_Finalize. */
#include "check.h"

static int copy_count, delete_count;

static int attribute_copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *is_copied)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    copy_count++;
    *is_copied = 1;
    return MPI_SUCCESS;
}

static int attribute_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    delete_count++;
    return MPI_SUCCESS;
}

static void exchange(void)
{
    unsigned char *sent = check_buffer_new(CHECK_LARGE_BYTES), *received = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request requests[2];
    int peer = 1 - check_rank();
    check_fill(sent, CHECK_LARGE_BYTES, 3);
    MPI_Irecv(received, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    check_delay();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(check_is_filled(received, CHECK_LARGE_BYTES, 3), "the message");
    free(sent);
    free(received);
}

int main(int argc, char **argv)
{
    int key;
    check_start(&argc, &argv);
    MPI_Comm_create_keyval(attribute_copied, attribute_deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    exchange();
    check(copy_count == 0, "nobody copied it");
    check(delete_count == 0, "nobody deleted it");
    check_end();
    return delete_count == 1 ? 0 : 1;
}
