/* SPDX-License-Identifier: MIT */
#include "base/launch.h"

#include <stdlib.h>

const char *base_launch_variable(const char *const *names)
{
    const char *value = NULL;
    for (; *names != NULL && value == NULL; names++)
        value = getenv(*names);
    return value;
}

long base_launch_local_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMIX_LOCAL_SIZE", NULL};
    const char *text = base_launch_variable(names);
    return text == NULL ? 0 : atol(text);
}
