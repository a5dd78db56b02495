/* SPDX-License-Identifier: MIT */
/* Claim: a function of the program that copies or deletes an attribute may use what was just received.
 * defers: receive
 * passes: nothing */
#include "check.h"

static unsigned char *buffer;
static int call_count;

static void message_use(void)
{
    call_count++;
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 5), "the message");
}

static int type_deleted(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    message_use();
    return MPI_SUCCESS;
}

static int type_copied(MPI_Datatype type, int key, void *extra, void *value, void *copy, int *is_copied)
{
    (void)type, (void)key, (void)extra, (void)value, (void)copy;
    message_use();
    *is_copied = 0;
    return MPI_SUCCESS;
}

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    message_use();
    return MPI_SUCCESS;
}

static int comm_copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *is_copied)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    message_use();
    *is_copied = 0;
    return MPI_SUCCESS;
}

static void message_pass(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    } else {
        memset(buffer, 0, CHECK_LARGE_BYTES);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    }
}

static void calls_check(int count)
{
    check(call_count == count, "each function was called once");
    call_count = 0;
}

static void check_types(bool is_copying)
{
    int key;
    MPI_Datatype type, copy;
    MPI_Type_create_keyval(type_copied, type_deleted, &key, NULL);
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, NULL);
    message_pass();
    if (is_copying)
        MPI_Type_dup(type, &copy);
    calls_check(is_copying);
    MPI_Type_free(&type);
    if (is_copying)
        MPI_Type_free(&copy);
    MPI_Type_free_keyval(&key);
    calls_check(1);
}

static void check_comms(bool is_copying)
{
    int key;
    MPI_Comm comm, copy;
    MPI_Comm_create_keyval(comm_copied, comm_deleted, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, NULL);
    message_pass();
    if (is_copying)
        MPI_Comm_dup(comm, &copy);
    calls_check(is_copying);
    MPI_Comm_free(&comm);
    if (is_copying)
        MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&key);
    calls_check(1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1)
        check_fill(buffer, CHECK_LARGE_BYTES, 5);
    for (int is_copying = 0; is_copying < 2; is_copying++) {
        check_types(is_copying);
        check_comms(is_copying);
    }
    return check_end();
}
