/* SPDX-License-Identifier: MIT */
/* Claim: a call through the preload reaches the library with every argument in
 * place, the first call (which binds) like the second. */
#include "fake_mpi.h"

#include <stdio.h>

static int check(const char *what, double is, double should_be)
{
    if (is == should_be)
        return 0;
    printf("%s: %g instead of %g\n", what, is, should_be);
    return 1;
}

static int pcontrol(int level)
{
    return MPI_Pcontrol(level, 1, 2, 3, 4, 5, 6, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0);
}

int main(void)
{
    int failures = 0;
    double should_be = 0;
    int rank = 0;
    for (int i = 2; i <= 7; i++)
        should_be += i * (i - 1);
    for (int i = 8; i <= 15; i++)
        should_be += i * (i - 7);
    failures += check("first call", pcontrol(1), should_be + 1);
    for (int level = -1; level <= 3; level++)
        failures += check("later calls", pcontrol(level), should_be + level);
    failures += check("a result in a vector register", MPI_Wtime(), 42.5);
    failures += check("result", MPI_Comm_rank(3, &rank), 0);
    failures += check("rank", rank, 10);
    return failures != 0;
}
