/* SPDX-License-Identifier: MIT */
/* Claim: where one rank has other options no blocking collective returns early, large ones are counted as passed for
 * that reason, and all ranks get what they must.
 * ranks: 3
 * passes: ranks
 * quick: openmpi4 mpich4 userfaultfd */
#include <unistd.h>

#include "check.h"

enum { LENGTH = 1 << 20, ROOT = 1 };

static const char started_again[] = "CHECK_IS_STARTED_AGAIN";

/* Before MPI_Init: by what the launcher says. */
static bool is_last(void)
{
    const char *text = getenv("PMIX_RANK") != NULL ? getenv("PMIX_RANK") : getenv("PMI_RANK");
    return text != NULL && strcmp(text, "2") == 0;
}

int main(int argc, char **argv)
{
    if (is_last() && getenv(started_again) == NULL) {
        setenv(started_again, "", 1);
        setenv("LAPWING_THRESHOLD", "131072", 1);
        execv("/proc/self/exe", argv);
    }
    MPI_Init(&argc, &argv);
    unsigned char *bytes = check_buffer_new(LENGTH);
    memset(bytes, check_rank() == ROOT ? 7 : 0, LENGTH);
    MPI_Bcast(bytes, LENGTH, MPI_BYTE, ROOT, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH; i++)
        check(bytes[i] == 7, "the root's bytes");
    return check_end();
}
