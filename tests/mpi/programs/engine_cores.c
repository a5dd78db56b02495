/* SPDX-License-Identifier: MIT */
/* Claim: the engines of ranks that leave cores unused run on those, and nowhere else, while the program stays where it
 * is; where OpenMP binds threads they stay with their ranks.
 * arguments: free openmp
 * environment: LAPWING_ENGINE_CORES=auto
 * defers: receive
 * quick: openmpi4
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include "check.h"

/* Both ranks on one core: one of those that this process may use. */
static int bind_to_first(cpu_set_t *before)
{
    cpu_set_t mask;
    int core = 0;
    sched_getaffinity(0, sizeof *before, before);
    while (!CPU_ISSET(core, before))
        core++;
    CPU_ZERO(&mask);
    CPU_SET(core, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    return core;
}

static pid_t find_engine(void)
{
    DIR *folder = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[300];
        char name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL && strcmp(name, "lapwing-engine\n") == 0)
            found = atoi(entry->d_name);
        fclose(file);
    }
    closedir(folder);
    return found;
}

static void check_engine(int core, bool is_free)
{
    cpu_set_t mask;
    pid_t engine = find_engine();
    if (engine == 0)
        return; /* stock */
    check(sched_getaffinity(engine, sizeof mask, &mask) == 0, "the engine's mask");
    check(CPU_COUNT(&mask) > 0, "the engine is somewhere");
    check((CPU_ISSET(core, &mask) != 0) != is_free, "it is not on the ranks' core, or there, where OpenMP binds");
}

static void exchange(void)
{
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        check_send_late(buffer, CHECK_LARGE_BYTES, 3, 1, 0);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "the data");
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    cpu_set_t before;
    cpu_set_t mask;
    int core = bind_to_first(&before);
    bool is_free = argc < 2 || strcmp(argv[1], "openmp") != 0;
    if (!is_free)
        setenv("OMP_PROC_BIND", "true", 1);
    check_start(&argc, &argv);
    exchange();
    bool is_bound = getenv("OMP_PLACES") != NULL || getenv("OMP_PROC_BIND") != NULL;
    if (!is_free)
        check_engine(core, false);
    /* Beside other jobs, whose ranks may use any core, none is spare: tools/test.sh claim has the host to itself. */
    else if (getenv("CHECK_TIMES") != NULL && CPU_COUNT(&before) > 1 && !is_bound)
        check_engine(core, true);
    sched_getaffinity(0, sizeof mask, &mask);
    check(CPU_COUNT(&mask) == 1 && CPU_ISSET(core, &mask), "the program is where it was");
    return check_end();
}
