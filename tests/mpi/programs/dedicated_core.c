/* SPDX-License-Identifier: MIT */
/* Claim: a rank that gives up a core keeps its arguments, leaves that core alone,
 * and tells its OpenMP runtime so.
 * ranks: 1
 * arguments: one_argument
 * strategies: any
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"

static void check_cores(int engine_core)
{
    cpu_set_t mask;
    const char *threads = getenv("OMP_NUM_THREADS");
    check(sched_getaffinity(0, sizeof mask, &mask) == 0, "sched_getaffinity");
    check(!CPU_ISSET(engine_core, &mask), "the engine's core is not the program's");
    check(threads != NULL && atoi(threads) <= CPU_COUNT(&mask), "no more threads than cores");
}

int main(int argc, char **argv)
{
    const char *engine_cores = getenv("LAPWING_ENGINE_CORES");
    check_start(&argc, &argv);
    check(argc == 2 && strcmp(argv[1], "one_argument") == 0, "the arguments");
    if (engine_cores != NULL && engine_cores[0] != '\0')
        check_cores(atoi(engine_cores));
    return check_end();
}
