/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE a function that MPI calls may give what another thread has received to a system
 * call, whose data are those of the message.
 * flags: -pthread
 * defers: receive
 * timeout: 20
 * arguments: operator handler
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 1 << 20, SEED = 7 };

static unsigned char *buffer;
static int file;
static int call_count;
static atomic_bool is_received, is_used;

static void message_write(void)
{
    call_count++;
    check(write(file, buffer, LENGTH) == LENGTH, "the call succeeds");
}

static void operator_run(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)in, (void)out, (void)count, (void)type;
    message_write();
}

static void handler_run(MPI_File *of, int *error, ...)
{
    (void)of, (void)error;
    message_write();
}

/* It stays: what a thread has begun ends with it. */
static void *receive(void *unused)
{
    check_recv(buffer, LENGTH, 1, 1);
    is_received = true;
    while (!is_used)
        usleep(1000);
    return unused;
}

static void run_operator(MPI_Op operation)
{
    int one = 1, sum = 1;
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, operation);
}

/* Once there is a handler no receive returns early, and what another thread has under way then goes on. */
static void run_handler(void)
{
    MPI_File none;
    MPI_Errhandler handler;
    MPI_File_create_errhandler(handler_run, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    check(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &none) != MPI_SUCCESS,
          "there is no such file");
}

static void use_message(const char *way, MPI_Op operation)
{
    char name[] = "/tmp/thread_multiple_callback_XXXXXX";
    unsigned char *written = malloc(LENGTH);
    pthread_t thread;
    file = mkstemp(name);
    unlink(name);
    pthread_create(&thread, NULL, receive, NULL);
    while (!is_received)
        usleep(100);
    if (strcmp(way, "operator") == 0)
        run_operator(operation);
    else
        run_handler();
    check(call_count == 1, "the function has run");
    check(pread(file, written, LENGTH, 0) == LENGTH && check_is_filled(written, LENGTH, SEED), "with the message");
    is_used = true;
    pthread_join(thread, NULL);
    free(written);
    close(file);
}

int main(int argc, char **argv)
{
    MPI_Op operation;
    check_start_multiple(&argc, &argv);
    buffer = check_buffer_new(LENGTH);
    MPI_Op_create(operator_run, 1, &operation);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        use_message(argv[1], operation);
    } else {
        check_fill(buffer, LENGTH, SEED);
        check_delay();
        check_send(buffer, LENGTH, 0, 1);
    }
    MPI_Op_free(&operation);
    return check_end();
}
