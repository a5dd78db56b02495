/* SPDX-License-Identifier: MIT */
/* Claim: a function of the program that copies or deletes an attribute may itself send and receive, and use what it has
 * received, whether or not a message is under way when MPI calls it.
 * arguments: blocking nonblocking exchange
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { ROUNDS = 20, OUTSIDE = 1, INSIDE = 2 };

static unsigned char *outside, *sent, *received;
static int call_count;
static void (*talk)(int peer);

static void talk_blocking(int peer)
{
    if (check_rank() == 1)
        check_send(sent, CHECK_LARGE_BYTES, peer, INSIDE);
    else
        check_recv(received, CHECK_LARGE_BYTES, peer, INSIDE);
}

static void talk_nonblocking(int peer)
{
    MPI_Request requests[2];
    MPI_Irecv(received, CHECK_LARGE_BYTES, MPI_BYTE, peer, INSIDE, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, CHECK_LARGE_BYTES, MPI_BYTE, peer, INSIDE, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void talk_exchange(int peer)
{
    MPI_Sendrecv(sent, CHECK_LARGE_BYTES, MPI_BYTE, peer, INSIDE, received, CHECK_LARGE_BYTES, MPI_BYTE, peer, INSIDE,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int message_use(void)
{
    call_count++;
    memset(received, 0, CHECK_LARGE_BYTES);
    talk(1 - check_rank());
    bool has_received = check_rank() == 0 || talk != talk_blocking;
    check(!has_received || check_is_filled(received, CHECK_LARGE_BYTES, 5), "the message of the function");
    return MPI_SUCCESS;
}

static int comm_copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *is_copied)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *is_copied = 0;
    return message_use();
}

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return message_use();
}

static int type_deleted(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    return message_use();
}

/* Left under way. */
static void message_pass(void)
{
    if (check_rank() == 1)
        check_send(outside, CHECK_LARGE_BYTES, 0, OUTSIDE);
    else
        check_recv(outside, CHECK_LARGE_BYTES, 1, OUTSIDE);
}

static void play_comm(bool is_beside)
{
    int key;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(comm_copied, comm_deleted, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    if (is_beside)
        message_pass();
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&copy);
    if (is_beside)
        message_pass();
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    check(call_count == 3, "each function was called");
    call_count = 0;
}

/* What makes windows and files of a communicator may copy it, with its attributes. */
static void play_copiers(bool is_beside)
{
    int key;
    MPI_Group group;
    MPI_Comm comm, copy;
    MPI_Win window;
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Comm_create_keyval(comm_copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    if (is_beside)
        message_pass();
    MPI_Comm_create_group(comm, group, 0, &copy);
    MPI_Comm_free(&copy);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_free(&window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    MPI_Win_free(&window);
    if (MPI_File_open(comm, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS)
        MPI_File_close(&file);
    MPI_Group_free(&group);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
    check(call_count > 0, "this MPI copies attributes there");
#endif
    call_count = 0;
}

static void play_type(bool is_beside)
{
    int key;
    MPI_Datatype type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_deleted, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, NULL);
    if (is_beside)
        message_pass();
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
    check(call_count == 1, "the function was called");
    call_count = 0;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    talk = strcmp(argv[1], "blocking") == 0 ? talk_blocking : talk_nonblocking;
    if (strcmp(argv[1], "exchange") == 0)
        talk = talk_exchange;
    outside = check_buffer_new(CHECK_LARGE_BYTES);
    sent = check_buffer_new(CHECK_LARGE_BYTES);
    received = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(sent, CHECK_LARGE_BYTES, 5);
    for (int round = 0; round < ROUNDS; round++) {
        play_comm(round % 2 != 0);
        play_copiers(round % 2 != 0);
        play_type(round % 2 != 0);
    }
    return check_end();
}
