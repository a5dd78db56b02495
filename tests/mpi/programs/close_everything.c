/* SPDX-License-Identifier: MIT */
/* Claim: a program that closes every descriptor that it did not open itself, as daemons do, in whatever way and however
 * many are open, still finds its data, nobody is busy meanwhile, and open() gives it the lowest numbers.
 * arguments: close range call call_range call_dup2 call_dup3 high
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { FIRST_HIGH = 512, LAST_HIGH = 8192, FILLED_UNTIL = 5000 };

static void close_each(const char *way)
{
    for (int descriptor = FIRST_HIGH; descriptor < LAST_HIGH; descriptor++) {
        if (strcmp(way, "close") == 0)
            close(descriptor);
        else if (strcmp(way, "call") == 0)
            syscall(SYS_close, descriptor);
        else if (strcmp(way, "call_dup3") == 0)
            (void)(syscall(SYS_dup3, 0, descriptor, 0) == descriptor && syscall(SYS_close, descriptor));
#ifdef SYS_dup2
        else if (strcmp(way, "call_dup2") == 0)
            (void)(syscall(SYS_dup2, 0, descriptor) == descriptor && syscall(SYS_close, descriptor));
#endif
    }
}

static void close_range_by(const char *way)
{
    long result =
        strcmp(way, "call_range") == 0 ? syscall(SYS_close_range, FIRST_HIGH, ~0U, 0) : close_range(FIRST_HIGH, ~0U, 0);
    check(result == 0 || errno == ENOSYS, "close_range()");
}

static void close_everything(const char *way)
{
    if (strcmp(way, "range") == 0 || strcmp(way, "call_range") == 0 || strcmp(way, "high") == 0)
        close_range_by(way);
    else
        close_each(way);
}

/* Whoever opens one now gets a number above. */
static bool descriptors_fill(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = LAST_HIGH;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    for (int descriptor = FIRST_HIGH; descriptor < FILLED_UNTIL; descriptor++)
        dup2(0, descriptor);
    return true;
}

static double cpu_s(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

/* Half the time that the message takes. Nothing here waits for it: that it is there would hide what was closed. */
static void pause_without_looking(void)
{
    struct timespec pause = {0, 500 * 1000 * 1000};
    while (nanosleep(&pause, &pause) != 0)
        continue;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "close";
    if (strcmp(way, "high") == 0 && !descriptors_fill())
        return check_skip("this process may not have so many descriptors");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 7);
        MPI_Barrier(MPI_COMM_WORLD);
        sleep(1);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    close_everything(way);
    double before_s = cpu_s();
    pause_without_looking();
    check(cpu_s() - before_s < 0.05, "nobody is busy");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the message is whole");
    int opened = open("/dev/null", O_RDONLY);
    check(opened >= 0 && opened < FIRST_HIGH, "open() gives a low number");
    return check_end();
}
