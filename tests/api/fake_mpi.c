/* SPDX-License-Identifier: MIT */
/* An MPI library for tests of binding: it says what it was called with. Built under
 * two names, one that Lapwing takes for the MPICH ABI and one that it does not know. */
#include <stdarg.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    return 0;
}

/* MPI_Pcontrol is the one function of MPI that takes what it likes: five numbers
 * in registers, one on the stack, and eight more in vector registers. */
static double weigh(int level, va_list arguments)
{
    double sum = level;
    for (int i = 2; i <= 7; i++)
        sum += i * va_arg(arguments, int);
    for (int i = 8; i <= 15; i++)
        sum += i * va_arg(arguments, double);
    return sum;
}

EXPORT int PMPI_Pcontrol(const int level, ...)
{
    va_list arguments;
    va_start(arguments, level);
    double sum = weigh(level, arguments);
    va_end(arguments);
    return (int)sum;
}

EXPORT double PMPI_Wtime(void)
{
    return 42.5;
}

/* The int ones are 7 under the MPICH ABI and under any other. */
EXPORT int PMPI_Comm_rank(int comm, int *rank)
{
    *rank = comm + 7;
    return 0;
}

EXPORT int MPI_Init(int *argc, char ***argv) __attribute__((alias("PMPI_Init")));
EXPORT int MPI_Pcontrol(const int level, ...) __attribute__((alias("PMPI_Pcontrol")));
EXPORT double MPI_Wtime(void) __attribute__((alias("PMPI_Wtime")));
EXPORT int MPI_Comm_rank(int comm, int *rank) __attribute__((alias("PMPI_Comm_rank")));
