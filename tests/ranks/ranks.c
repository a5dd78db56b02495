/* SPDX-License-Identifier: MIT */
/* What a rank of a large job takes: a program that starts, exchanges small messages with its neighbours, and ends.
 *   ranks [BYTES]   messages of so many bytes (8)
 * Rank 0 prints: ranks, mean memory of a rank (KiB, shared pages divided among those who share them), the largest
 * memory of a rank alone (KiB), processor time until MPI_Init returns (us: smallest, mean), and when MPI_Finalize
 * begins (s). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 10, US_PER_S = 1000000 };
enum { PSS_KIB, OWN_KIB, FACTS };

static long time_us(struct timeval time)
{
    return time.tv_sec * US_PER_S + time.tv_usec;
}

static long processor_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return time_us(usage.ru_utime) + time_us(usage.ru_stime);
}

static void memory_read(long facts[FACTS])
{
    static const char *const formats[FACTS] = {[PSS_KIB] = "Pss: %ld", [OWN_KIB] = "Private_Dirty: %ld"};
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        for (int i = 0; i < FACTS; i++)
            sscanf(line, formats[i], &facts[i]);
    if (file != NULL)
        fclose(file);
}

static void exchange(int rank, int size, int bytes)
{
    char *out = calloc(1, (size_t)bytes);
    char *in = calloc(1, (size_t)bytes);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    long facts[FACTS] = {0};
    long sums[FACTS];
    long most[FACTS];
    MPI_Init(&argc, &argv);
    long start_us = processor_us();
    long least_us;
    long all_us;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange(rank, size, argc > 1 ? atoi(argv[1]) : 8);
    MPI_Barrier(MPI_COMM_WORLD);
    memory_read(facts);
    MPI_Reduce(facts, sums, FACTS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(facts, most, FACTS, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&start_us, &least_us, 1, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&start_us, &all_us, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (rank == 0) {
        printf("%d %ld %ld %ld %ld %.6f\n", size, sums[PSS_KIB] / size, most[OWN_KIB], least_us, all_us / size,
               (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
