/* SPDX-License-Identifier: MIT */
/* Claim: each launcher's variables tell how many ranks share this host, and nothing else does. */
#include "base/launch.h"

#include <stddef.h>
#include <stdlib.h>

#include "claim.h"

struct setting {
    const char *name;
    const char *value;
};

enum { SETTINGS_MAX = 3 };

static long ranks_with(const struct setting settings[SETTINGS_MAX])
{
    clearenv();
    for (int i = 0; i < SETTINGS_MAX && settings[i].name != NULL; i++)
        setenv(settings[i].name, settings[i].value, 1);
    return base_launch_local_ranks();
}

#define RANKS(...) ranks_with((const struct setting[SETTINGS_MAX]){__VA_ARGS__})

static long slurm(const char *list, const char *host)
{
    return RANKS({"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", host});
}

int main(void)
{
    claim(RANKS({NULL, NULL}) == 0, "nobody says");
    claim(RANKS({"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}) == 3 && RANKS({"MPI_LOCALNRANKS", "1"}) == 1, "mpirun");
    claim(RANKS({"PALS_LOCAL_SIZE", "1"}) == 1 && RANKS({"PMI_LOCAL_SIZE", "4"}) == 4, "PALS, and Cray's PMI");
    claim(slurm("1", "0") == 1 && slurm("1(x2)", "1") == 1 && slurm("4(x2),3", "1") == 4, "srun");
    claim(slurm("4(x2),3", "2") == 3 && slurm("2,1,5(x3)", "1") == 1 && slurm("2,1,5(x3)", "4") == 5, "uneven");
    claim(slurm("4(x2),3", "3") == 0 && slurm("", "0") == 0 && slurm("x", "7") == 0, "a list that says nothing");
    claim(RANKS({"SLURM_TASKS_PER_NODE", "1"}, {"SLURM_NODEID", "0"}) == 0, "the allocation is not the step");
    claim(RANKS({"SLURM_STEP_TASKS_PER_NODE", "1"}, {"SLURM_NODEID", "0"}, {"MPI_LOCALNRANKS", "2"}) == 2,
          "a launcher inside a step says better");
    claim(RANKS({"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "4"}) == 1, "Flux, a rank each");
    claim(RANKS({"FLUX_JOB_SIZE", "5"}, {"FLUX_JOB_NNODES", "4"}) == 2, "Flux, not so");
    return 0;
}
