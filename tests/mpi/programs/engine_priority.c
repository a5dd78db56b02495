/* SPDX-License-Identifier: MIT */
/* Claim: while the program waits at a touch and the engine polls without pause, the engine has no higher priority than
 * the program: else the system would give it what the job's other threads are due.
 * flags: -pthread
 * ranks: 2
 * quick: openmpi4 mpich4
 * environment: LAPWING_MATCH=off */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 4, LATE_US = 200000, LOOK_US = 100000, NICE_FIELD = 17 };

static _Atomic bool has_come;

/* Field 19 of /proc/.../stat, the 17th behind the name (proc_pid_stat(5)). */
static long thread_nice(const char *thread)
{
    char path[300], line[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL || strstr(line, "(lapwing-engine)") == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    char *field = strrchr(line, ')');
    for (int i = 0; field != NULL && i < NICE_FIELD; i++)
        field = strchr(field + 1, ' ');
    return field == NULL ? getpriority(PRIO_PROCESS, 0) : atol(field);
}

static long least_nice(void)
{
    long least = getpriority(PRIO_PROCESS, 0);
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
        long nice = entry->d_name[0] == '.' ? least : thread_nice(entry->d_name);
        least = nice < least ? nice : least;
    }
    closedir(threads);
    return least;
}

static void *watcher_run(void *unused)
{
    (void)unused;
    usleep(LOOK_US);
    long nice = least_nice();
    check(atomic_load(&has_come) || nice >= getpriority(PRIO_PROCESS, 0), "the engine runs as the program does");
    return NULL;
}

static void receive(unsigned char *buffer, unsigned seed)
{
    pthread_t watcher;
    atomic_store(&has_come, false);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&watcher, NULL, watcher_run, NULL);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the message");
    atomic_store(&has_come, true);
    pthread_join(watcher, NULL);
}

static void send(unsigned char *buffer, unsigned seed)
{
    check_fill(buffer, CHECK_LARGE_BYTES, seed);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(LATE_US);
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (check_rank() == 0)
            receive(buffer, i);
        else
            send(buffer, i);
    }
    return check_end();
}
