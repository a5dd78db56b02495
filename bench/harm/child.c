/* SPDX-License-Identifier: MIT */
/* Runs a program once and prints a line of JSON: its time, its minor page faults, the most memory that it had resident.
 *
 *     child PRELOAD|- PROGRAM [ARGUMENT ...]
 *
 * A program of its own: Linux counts what the process had resident before execve(2) into the program's ru_maxrss, and
 * this one has far less than a Python interpreter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../measure.h"

static void become(char **command, const char *preload)
{
    if (strcmp(preload, "-") == 0)
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", preload, 1);
    if (!freopen("/dev/null", "w", stdout))
        _exit(126);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

static int explain(int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: child PRELOAD|- PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    double begin_us = measure_now_us();
    pid_t child = fork();
    if (child == 0)
        become(argv + 2, argv[1]);
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("child");
        return 1;
    }
    double time_us = measure_now_us() - begin_us;
    printf("{\"time_us\": %.1f, \"faults\": %ld, \"memory_kib\": %ld}\n", time_us, used.ru_minflt, used.ru_maxrss);
    return explain(status);
}
