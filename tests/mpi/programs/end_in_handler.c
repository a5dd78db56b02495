/* SPDX-License-Identifier: MIT */
/* Claim: a watchdog's handler may end the process while it waits for a message that never comes.
 * exit: nonzero
 * arguments: exit _exit quick abort read wait thread free open fork fork-wait
 * quick: openmpi4 userfaultfd signal-1
 * timeout: 25 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { BEGUN_US = 300000 }; /* by then the program waits */

static const char *way;
static unsigned char *buffer;

static bool is_way(const char *word)
{
    return strstr(way, word) != NULL;
}

static void handle_alarm(int number)
{
    (void)number;
    if (is_way("open"))
        fclose(fopen("/dev/null", "r"));
    if (is_way("fork") && fork() == 0)
        execlp("true", "true", (char *)NULL);
    if (is_way("quick"))
        quick_exit(5);
    if (is_way("_exit") || is_way("open") || is_way("fork"))
        _exit(5);
    if (is_way("abort"))
        abort();
    exit(5);
}

static void *sleep_long(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sleep(20);
    return unused;
}

static void free_buffer(void)
{
    memset(buffer, 0, CHECK_LARGE_BYTES);
    free(buffer);
}

/* The ways to wait for a buffer that is still under way. */
static void wait_for(void)
{
    MPI_Request request;
    if (is_way("read"))
        (void)!read(open("/dev/zero", O_RDONLY), buffer, CHECK_LARGE_BYTES);
    if (is_way("wait")) {
        MPI_Irecv(buffer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    printf("not reached %d\n", buffer[0]);
}

/* Rank 1 outlives rank 0 and ends by itself: MPICH 5's Hydra leaves the others of a job alone about twice in five
 * times when a rank that has forked ends without MPI_Finalize, stock as well. */
static void outlive_rank_0(void)
{
    int own_process = (int)getpid(), process = 0;
    MPI_Sendrecv(&own_process, 1, MPI_INT, !check_rank(), 9, &process, 1, MPI_INT, !check_rank(), 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    while (check_rank() == 1) {
        usleep(10000);
        if (kill(process, 0) != 0)
            _exit(5);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    outlive_rank_0();
    if (is_way("free"))
        atexit(free_buffer);
    if (is_way("thread"))
        check(pthread_create(&(pthread_t){0}, NULL, sleep_long, NULL) == 0, "a second thread");
    struct sigaction action = {.sa_handler = handle_alarm};
    sigaction(SIGALRM, &action, NULL);
    ualarm(BEGUN_US, 0);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    wait_for();
    return check_end();
}
