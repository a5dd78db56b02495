/* SPDX-License-Identifier: MIT */
/* A script's processes, which do nothing, one after the other: start [STEPS]. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static int run_true(void)
{
    char *arguments[] = {"true", NULL};
    pid_t child;
    int status;
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0 || waitpid(child, &status, 0) != child)
        return 1;
    return status;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 300;
    int failed = 0;
    for (long i = 0; i < steps && !failed; i++)
        failed = run_true();
    if (failed)
        fprintf(stderr, "true cannot be run\n");
    return failed != 0;
}
