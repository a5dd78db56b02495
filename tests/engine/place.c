/* SPDX-License-Identifier: MIT */
/* Claim: the engine runs where it is told to; where the kernel refuses that, or nobody knows what is spare, it runs
 * where the program does, and says so. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/cores.h"
#include "engine/place.h"

/* What the bound thread has, and what it prints. */
static cpu_set_t bind(const char *wish, char *said, size_t said_bytes)
{
    struct engine_place place = {0};
    int ends[2];
    int error = dup(STDERR_FILENO);
    cpu_set_t mask;
    setenv(BASE_CORES_VARIABLE, wish, 1);
    engine_place_configure(&place);
    engine_place_look(&place);
    claim(pipe(ends) == 0, "a pipe");
    dup2(ends[1], STDERR_FILENO);
    engine_place_bind(&place);
    dup2(error, STDERR_FILENO);
    close(ends[1]);
    ssize_t length = read(ends[0], said, said_bytes - 1);
    said[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    sched_getaffinity(0, sizeof mask, &mask);
    sched_setaffinity(0, sizeof place.own, &place.own);
    return mask;
}

static void expect(const char *wish, const cpu_set_t *cores, const char *line)
{
    char said[512];
    cpu_set_t mask = bind(wish, said, sizeof said);
    claim(CPU_EQUAL(&mask, cores), wish);
    claim(line == NULL ? said[0] == '\0' : strstr(said, line) != NULL, said);
}

int main(void)
{
    cpu_set_t own;
    cpu_set_t first;
    char list[16];
    int core = 0;
    unsetenv("OMPI_COMM_WORLD_RANK");
    sched_getaffinity(0, sizeof own, &own);
    while (!CPU_ISSET(core, &own))
        core++;
    CPU_ZERO(&first);
    CPU_SET(core, &first);
    snprintf(list, sizeof list, "%d", core);
    expect(list, &first, NULL);
    expect("1000", &own, "refused; the engine stays on the program's cores");
    expect("7-4", &own, "no list of cores");
    expect("auto", &own, "no launcher");
    setenv("PMI_RANK", "0", 1);
    expect("auto", &own, "not all ranks of this host can be seen");
    setenv("OMP_PLACES", "cores", 1);
    expect("auto", &own, "OpenMP binds");
    setenv("PMI_RANK", "1", 1);
    expect("auto", &own, NULL); /* one rank is enough to say it */
    return 0;
}
