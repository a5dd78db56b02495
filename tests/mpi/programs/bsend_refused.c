/* SPDX-License-Identifier: MIT */
/* Claim: once a program makes an error handler of its own, the engine rests, though a message of MPI_Bsend is under
 * way; that message arrives, and the buffer is handed back.
 * assists: any
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * flags: -Wno-unused-parameter
 * environment: LAPWING_PROGRESS=poll */
#include <dirent.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 4 << 20, ROUNDS = 3, TEXT_BYTES = 512, REST_US = 100000 };

static void ignore(MPI_Comm *comm, int *code, ...)
{
}

/* How often the thread has gone to sleep, if it is the engine. */
static long thread_sleeps(const char *thread)
{
    char path[TEXT_BYTES], text[TEXT_BYTES] = "";
    long sleeps = 0;
    bool is_engine = false;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        is_engine |= strncmp(text, "Name:\tlapwing", 13) == 0;
        sscanf(text, "voluntary_ctxt_switches: %ld", &sleeps);
    }
    if (file != NULL)
        fclose(file);
    return is_engine ? sleeps : 0;
}

static long engine_sleeps(void)
{
    long sleeps = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;)
        sleeps += thread_sleeps(thread->d_name);
    if (threads != NULL)
        closedir(threads);
    return sleeps;
}

static void await_rest(void)
{
    long before, now = engine_sleeps();
    int rounds = 0;
    do {
        before = now;
        usleep(REST_US);
        now = engine_sleeps();
    } while (now != before && ++rounds < ROUNDS);
    check(now == before, "the engine rests");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int length;
    MPI_Errhandler handler;
    unsigned char *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD), *buffer = check_buffer_new(LENGTH);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    check_fill(buffer, LENGTH, 1);
    if (check_rank() == 0) {
        MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        memset(buffer, 0xAA, LENGTH);
        MPI_Comm_create_errhandler(ignore, &handler);
        await_rest();
        MPI_Errhandler_free(&handler);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1)
        check_recv(buffer, LENGTH, 0, 0);
    check(check_rank() == 0 || check_is_filled(buffer, LENGTH, 1), "the message as it was at MPI_Bsend");
    MPI_Buffer_detach(&attached, &length);
    check(length == LENGTH + MPI_BSEND_OVERHEAD, "the buffer's length");
    return check_end();
}
