/* SPDX-License-Identifier: MIT */
#include "engine/place.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/launch.h"
#include "base/options.h"

/* Has each rank here at most one of these? Where nobody knows them they count as many. Where no launcher says how many
 * ranks there are, and where the program is bound, which leaves it fewer than there are, they are one rank's. */
static bool are_few(const cpu_set_t *own)
{
    bool is_bound = CPU_COUNT(own) < sysconf(_SC_NPROCESSORS_ONLN);
    long ranks = base_launch_local_ranks();
    bool are_known = CPU_COUNT(own) != 0;
    return are_known && CPU_COUNT(own) <= (is_bound || ranks < 1 ? 1 : ranks);
}

void engine_place_configure(struct engine_place *place)
{
    /* Not the mask of the thread that submits: a runtime may have bound that one to a single core by then. */
    const char *given = getenv(BASE_CORES_VARIABLE);
    const char *rank = base_launch_rank();
    bool is_given = given != NULL && *given != '\0';
    base_cores_allowed(&place->own);
    place->finds_spare = is_given && strcmp(given, BASE_CORES_AUTO) == 0;
    place->is_listed = is_given && base_cores_parse(given, &place->wished);
    if (is_given && !place->finds_spare && !place->is_listed)
        place->refusal = "--engine-cores is no list of cores";
    bool shares_core = !place->is_listed && are_few(&place->own);
    atomic_store_explicit(&place->shares_core, shares_core, memory_order_relaxed);
    snprintf(place->rank, sizeof place->rank, "%s", rank == NULL ? "0" : rank);
}

static bool openmp_binds(void)
{
    return getenv("OMP_PLACES") != NULL || getenv("OMP_PROC_BIND") != NULL || getenv("GOMP_CPU_AFFINITY") != NULL ||
           getenv("KMP_AFFINITY") != NULL;
}

void engine_place_look(struct engine_place *place)
{
    const struct engine_spare_folders folders = {.processes = "/proc", .processors = "/sys/devices/system/cpu"};
    const char *variable = base_launch_rank_variable();
    if (!place->finds_spare)
        return;
    if (variable == NULL) {
        place->refusal = "no launcher says which processes are ranks, so that no core is known to be spare";
    } else if (openmp_binds()) {
        place->refusal = "OpenMP binds the ranks' threads, so that no core is known to be spare; name some "
                         "(--engine-cores LIST)";
    } else {
        place->spare = engine_spare_find(folders, variable, base_launch_local_ranks(), &place->own);
        if (!place->spare.is_known)
            place->refusal = "not all ranks of this host can be seen from here, so that no core is known to be spare; "
                             "name some (--engine-cores LIST)";
    }
}

/* All of them together: the kernel puts the engines of this host on them, one on each while there are enough. Of what
 * it is given it takes those that the cpuset allows. */
static bool bind_to(const cpu_set_t *set)
{
    return CPU_COUNT(set) != 0 && sched_setaffinity(0, sizeof *set, set) == 0;
}

static void bind_back(struct engine_place *place, const char *why)
{
    bind_to(&place->own);
    atomic_store_explicit(&place->shares_core, are_few(&place->own), memory_order_relaxed);
    if (options.show_binding || strcmp(place->rank, "0") == 0)
        dprintf(STDERR_FILENO, "lapwing: rank %s: %s; the engine stays on the program's cores\n", place->rank, why);
}

static void bind_spare(struct engine_place *place)
{
    if (bind_to(&place->spare.idle) || bind_to(&place->spare.beside))
        atomic_store_explicit(&place->shares_core, false, memory_order_relaxed);
    else
        bind_back(place, "no core of this host is spare");
}

static void show(const struct engine_place *place)
{
    char program[512];
    char engine[512];
    cpu_set_t mask;
    base_cores_allowed(&mask);
    base_cores_format(&place->own, program, sizeof program);
    base_cores_format(&mask, engine, sizeof engine);
    dprintf(STDERR_FILENO, "lapwing: rank %s: program on %s, engine on %s\n", place->rank, program, engine);
}

static void bind_listed(struct engine_place *place)
{
    if (!bind_to(&place->wished))
        bind_back(place, "the engine's cores are refused");
}

void engine_place_bind(struct engine_place *place)
{
    if (place->refusal != NULL)
        bind_back(place, place->refusal);
    else if (place->finds_spare)
        bind_spare(place);
    else if (place->is_listed)
        bind_listed(place);
    else
        bind_to(&place->own);
    /* What was given up is told by who did (lib/dedicate.c). */
    if (options.show_binding && options.progress != OPTION_PROGRESS_DEDICATED)
        show(place);
}
