/* SPDX-License-Identifier: MIT */
/* Claim: LAPWING=off in the environment leaves a program as it is: calls wait for their messages, nothing watches
 * memory or helps, and nothing is recorded.
 * environment: LAPWING=off
 * records: none
 * defers: nothing
 * quick: openmpi4 mpich4 */
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { TEXT_BYTES = 512, DELAY_US = 300000 };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Where the descriptor leads. */
static bool is_userfault(const char *name)
{
    char path[TEXT_BYTES], target[TEXT_BYTES] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", name);
    return readlink(path, target, sizeof target - 1) > 0 && strstr(target, "userfaultfd") != NULL;
}

static bool is_file(const char *name)
{
    return name[0] != '.';
}

static bool has_any(const char *folder, bool (*is_wanted)(const char *name))
{
    bool is_found = false;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        is_found |= is_wanted(entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return is_found;
}

static void check_process(void)
{
    check(!has_any("/proc/self/fd", is_userfault), "no userfaultfd");
    check(!check_has_thread("lapwing"), "no engine");
}

/* A receive that returned early would return at once. */
static void receive(unsigned char *buffer)
{
    double begin_us = now_us();
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(now_us() - begin_us > DELAY_US / 2.0, "the receive waits for its message");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the message");
}

int main(int argc, char **argv)
{
    const char *records = getenv("LAPWING_RECORD_DIR");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_process();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        receive(buffer);
    } else {
        usleep(DELAY_US);
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    }
    check_process();
    int result = check_end();
    if (records != NULL && has_any(records, is_file)) {
        puts("something is recorded");
        return 9;
    }
    return result;
}
