/* SPDX-License-Identifier: MIT */
/* Claim: an error handler of a file or a window may jump out of MPI while a receive is under way, also one that was
 * made while it was (before), or while a send was whose request the program had freed. Another thread calls MPI
 * afterwards.
 * arguments: file window freed before
 * quick: openmpi4 mpich4 userfaultfd
 * passes: callback */
#include <pthread.h>
#include <setjmp.h>

#include "check.h"

static jmp_buf before;
static MPI_Request request;
static unsigned char *receive_buffer;

static void jump_of_file(MPI_File *file, int *error, ...)
{
    (void)file, (void)error;
    longjmp(before, 1);
}

static void jump_of_window(MPI_Win *window, int *error, ...)
{
    (void)window, (void)error;
    longjmp(before, 1);
}

static void open_none(void)
{
    MPI_File file;
    if (setjmp(before) != 0)
        return;
    MPI_File_open(MPI_COMM_SELF, "/nowhere/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    check(false, "the handler is called");
}

static void put_to_none(MPI_Win window)
{
    enum { NONE = 99 };
    if (setjmp(before) != 0)
        return;
    MPI_Put(&(char){0}, 1, MPI_BYTE, NONE, 0, 1, MPI_BYTE, window);
    check(false, "the handler is called");
}

static void *await(void *unused)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return unused;
}

static void begin_receive(void)
{
    receive_buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Irecv(receive_buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
}

static void rank_receive(MPI_Win window)
{
    pthread_t thread;
    unsigned char *recent = check_buffer_new(CHECK_LARGE_BYTES);
    if (receive_buffer == NULL)
        begin_receive();
    check_recv(recent, CHECK_LARGE_BYTES, 1, 2);
    if (window == MPI_WIN_NULL)
        open_none();
    else
        put_to_none(window);
    pthread_create(&thread, NULL, await, NULL);
    pthread_join(thread, NULL);
    check(check_is_filled(receive_buffer, CHECK_LARGE_BYTES, 1), "the message that was under way");
    check(check_is_filled(recent, CHECK_LARGE_BYTES, 2), "the message before");
}

static void send_freed(void)
{
    MPI_Request send;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(buffer, CHECK_LARGE_BYTES, 3);
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Errhandler handler;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    bool is_freed = strcmp(argv[argc - 1], "freed") == 0;
    if (is_freed && check_rank() == 0)
        send_freed();
    if (strcmp(argv[argc - 1], "before") == 0 && check_rank() == 0)
        begin_receive();
    if (strcmp(argv[argc - 1], "window") == 0) {
        MPI_Win_create(MPI_BOTTOM, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_create_errhandler(jump_of_window, &handler);
        MPI_Win_set_errhandler(window, handler);
    } else {
        MPI_File_create_errhandler(jump_of_file, &handler);
        MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    }
    if (check_rank() == 0) {
        rank_receive(window);
    } else {
        unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
        check_send_late(buffer, CHECK_LARGE_BYTES, 2, 0, 2);
        check_send_late(buffer, CHECK_LARGE_BYTES, 1, 0, 1);
        if (is_freed) {
            check_recv(buffer, CHECK_LARGE_BYTES, 0, 3);
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the message whose request was freed");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD); /* UCX warns of a send that its sender does not know to be over when MPI ends */
    MPI_Errhandler_free(&handler);
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    return check_end();
}
