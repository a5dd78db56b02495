/* SPDX-License-Identifier: MIT */
/* Claim: what a root scatters and gathers by a type with gaps, columns of a matrix of 320 MiB, does not need as much
 * memory again.
 * ranks: 2
 * quick: openmpi4 mpich4 */
#include <sys/resource.h>

#include "check.h"

enum { OWN = 1024, COLUMNS = 2 * OWN, ROWS = 20 << 10, CALLS = 2, STEP = 97, MORE_MIB_MOST = 160 };

static long memory_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static double *matrix_new(size_t numbers)
{
    double *matrix = malloc(numbers * sizeof *matrix);
    check(matrix != NULL, "there is memory");
    for (size_t i = 0; i < numbers; i++)
        matrix[i] = (double)i;
    return matrix;
}

static MPI_Datatype columns_new(void)
{
    MPI_Datatype vector, columns;
    MPI_Type_vector(ROWS, OWN, COLUMNS, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(vector, 0, OWN * sizeof(double), &columns);
    MPI_Type_commit(&columns);
    MPI_Type_free(&vector);
    return columns;
}

static void expect_columns(const double *part)
{
    for (size_t row = 0; row < ROWS; row += STEP)
        for (size_t i = 0; i < OWN; i += STEP)
            check(part[row * OWN + i] == (double)(row * COLUMNS + (size_t)check_rank() * OWN + i), "own columns");
}

static void expect_all(const double *all)
{
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i += STEP)
        check(all[i] == (double)i, "all columns");
}

static void play(double *all, double *part, MPI_Datatype columns)
{
    MPI_Scatter(all, 1, columns, part, ROWS * OWN, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect_columns(part);
    if (all != NULL)
        memset(all, 0, (size_t)ROWS * COLUMNS * sizeof *all);
    MPI_Gather(part, ROWS * OWN, MPI_DOUBLE, all, 1, columns, 0, MPI_COMM_WORLD);
    if (all != NULL)
        expect_all(all);
}

static bool mpi_packs(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "Intel") != NULL;
}

int main(int argc, char **argv)
{
    if (mpi_packs())
        return check_skip("this MPI needs as much memory again itself");
    check_start(&argc, &argv);
    double *all = check_rank() == 0 ? matrix_new((size_t)ROWS * COLUMNS) : NULL;
    double *part = matrix_new((size_t)ROWS * OWN);
    MPI_Datatype columns = columns_new();
    long before_mib = memory_mib();
    for (int i = 0; i < CALLS; i++)
        play(all, part, columns);
    check(memory_mib() - before_mib < MORE_MIB_MOST, "little memory beside the matrix");
    MPI_Type_free(&columns);
    free(part);
    free(all);
    return check_end();
}
