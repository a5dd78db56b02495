/* SPDX-License-Identifier: MIT */
/* Claim: the functions that flush or detach the buffer of a communicator or of a session end once the messages in it
 * have been received, and the error that it is too small is reported.
 * arguments: flush iflush detach session small
 * quick: mpich5 mpi5abi */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { LENGTH = CHECK_LARGE_BYTES, ROOM = LENGTH + MPI_BSEND_OVERHEAD };

static const char *way;
static MPI_Session session;
static MPI_Comm comm;

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

/* A communicator of that session: its buffer is one of MPI_Bsend there, too. */
static void session_start(void)
{
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "lapwing.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
}

static void own_attach(void *buffer, int length)
{
    if (is_way("session"))
        MPI_Session_attach_buffer(session, buffer, length);
    else
        MPI_Comm_attach_buffer(comm, buffer, length);
}

static void own_flush(void)
{
    MPI_Request request;
    void *buffer;
    int length;
    if (is_way("flush"))
        MPI_Comm_flush_buffer(comm);
    else if (is_way("detach"))
        MPI_Comm_detach_buffer(comm, &buffer, &length);
    else if (is_way("session"))
        MPI_Session_flush_buffer(session);
    if (!is_way("iflush"))
        return;
    MPI_Comm_iflush_buffer(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void rank_send(unsigned char *buffer)
{
    check_fill(buffer, LENGTH, 1);
    int result = MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, comm);
    check(is_way("small") == (check_class(result) == MPI_ERR_BUFFER), "an error where there is no room");
    own_flush();
    check_send(buffer, 1, 1, 1);
}

static void rank_receive(unsigned char *buffer)
{
    enum { LOOKS = 5 };
    int is_flushed = 0;
    for (int i = 0; i < LOOKS && !is_way("small"); i++) {
        check_delay();
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_flushed, MPI_STATUS_IGNORE);
        check(!is_flushed, "the message was not received yet");
    }
    if (!is_way("small"))
        MPI_Recv(buffer, LENGTH, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
    check(is_way("small") || check_is_filled(buffer, LENGTH, 1), "the message");
    check_recv(buffer, 1, 0, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH), *attached = check_buffer_new(ROOM), *own = check_buffer_new(ROOM);
    way = argv[1];
    if (is_way("session"))
        session_start();
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, ROOM);
    own_attach(own, is_way("small") ? ROOM / 2 : ROOM);
    if (check_rank() == 0)
        rank_send(buffer);
    else
        rank_receive(buffer);
    MPI_Comm_free(&comm);
    if (is_way("session"))
        MPI_Session_finalize(&session);
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has one buffer for MPI_Bsend");
}
#endif
