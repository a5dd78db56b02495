/* SPDX-License-Identifier: MIT */
/* Claim: what a program spawns that was started without a launcher gets the environment that the program was given.
 * ranks: 1
 * quick: openmpi4 userfaultfd */
#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

static const char variable[] = "OMPI_MCA_btl_tcp_rdma_pipeline_frag_size";

static bool is_of_launcher(const char *setting)
{
    static const char *const beginnings[] = {"OMPI_", "PMIX_", "PMI_", "ORTE_", "PRTE_", "HYD"};
    bool is_any = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        is_any |= strncmp(setting, beginnings[i], strlen(beginnings[i])) == 0;
    return is_any && strncmp(setting, "OMPI_ALLOW", 10) != 0;
}

/* Becomes a process that no launcher has started. */
static int become_alone(char *program)
{
    char **kept = environ;
    for (char **next = environ; *next != NULL; next++)
        if (!is_of_launcher(*next))
            *kept++ = *next;
    *kept = NULL;
    execl(program, program, (char *)NULL);
    return 1;
}

static int be_spawned(bool has_variable, MPI_Comm parent)
{
    int found = has_variable;
    MPI_Send(&found, 1, MPI_INT, 0, 0, parent);
    check_spawned(parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    bool has_variable = getenv(variable) != NULL;
    MPI_Comm parent;
    int found = 1;
    if (getenv("FRAGMENTS_ALONE") == NULL)
        return setenv("FRAGMENTS_ALONE", "1", 1) != 0 || become_alone(argv[0]);
    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return be_spawned(has_variable, parent);
    MPI_Comm child = check_spawn(argv[0]);
    MPI_Recv(&found, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    check(!has_variable && !found, "the environment");
    check_spawned(child);
    MPI_Comm_disconnect(&child);
    return check_end();
}
