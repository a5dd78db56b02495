/* SPDX-License-Identifier: MIT */
/* What the measuring programs share: clocks, work of a fixed amount, lines of JSON.
 *
 * A header only: each program is one file that the MPI's own compiler builds. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEASURE_STEPS_PER_UNIT = 50, MEASURE_VALUES_PER_UNIT = 64, MEASURE_VALUES = 4 << 20 };

/* Volatile: a compiler that knew the first value would work the loop out itself. */
static volatile double measure_work_result = 0.5;

/* Not NULL: work is of the memory's kind. 32 MiB, more than most caches hold. */
static double *measure_values;

/* A chain of multiplications and additions: no memory, no system call. */
static inline void measure_work_processor(long units)
{
    double x = measure_work_result;
    for (long i = 0; i < units * MEASURE_STEPS_PER_UNIT; i++)
        x = x * 0.999999 + 1e-6;
    measure_work_result = x / 2;
}

/* Reads and writes through memory, from where the last call ended: what a transfer's copies compete with. */
static inline void measure_work_memory(long units)
{
    static long position;
    for (long i = 0; i < units; i++) {
        double *values = measure_values + position;
        for (int j = 0; j < MEASURE_VALUES_PER_UNIT; j++)
            values[j] = values[j] * 0.5 + 1.0;
        position = (position + MEASURE_VALUES_PER_UNIT) % MEASURE_VALUES;
    }
}

static inline void measure_work(long units)
{
    if (measure_values)
        measure_work_memory(units);
    else
        measure_work_processor(units);
}

/* "processor" or "memory"; before the first work. */
static inline void measure_choose_work(const char *name)
{
    if (strcmp(name, "memory") != 0)
        return;
    measure_values = malloc(MEASURE_VALUES * sizeof(double));
    for (long i = 0; i < MEASURE_VALUES; i++)
        measure_values[i] = 1.0;
}

static inline double measure_clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static inline double measure_now_us(void)
{
    return measure_clock_us(CLOCK_MONOTONIC);
}

/* Processor time of the process's other threads: an MPI's progress thread, Lapwing's engine.
 * The process's clock is read first, so that the time between the reads cannot look like theirs. */
static inline double measure_helpers_us(void)
{
    double process_us = measure_clock_us(CLOCK_PROCESS_CPUTIME_ID);
    return process_us - measure_clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static inline void measure_sleep(double time_us)
{
    struct timespec length = {(time_t)(time_us / 1e6), 0};
    length.tv_nsec = (long)((time_us - (double)length.tv_sec * 1e6) * 1e3);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

/* Prints how many units take a millisecond; needs no MPI launcher. */
static inline int measure_calibrate(void)
{
    const long units = 20000;
    double best_us = 1e300;
    for (int i = 0; i < 20; i++) {
        double begin_us = measure_now_us();
        measure_work(units);
        double elapsed_us = measure_now_us() - begin_us;
        best_us = elapsed_us < best_us ? elapsed_us : best_us;
    }
    printf("{\"units_per_ms\": %.1f}\n", (double)units * 1000 / best_us);
    return 0;
}

/* Prints `, "name": [...]`: every `stride`th value. */
static inline void measure_print_array(const char *name, const double *values, int count, int stride)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++)
        printf("%s%.3f", i ? ", " : "", values[i * stride]);
    printf("]");
}

/* Prints a line: the size, and an array of `count` times for each kind; times_us[i * kinds + kind]. */
static inline void measure_print_kinds(int length_bytes, const char *const *names, int kinds, const double *times_us,
                                       int count)
{
    printf("{\"size_bytes\": %d", length_bytes);
    for (int kind = 0; kind < kinds; kind++)
        measure_print_array(names[kind], times_us + kind, count, kinds);
    printf("}\n");
    fflush(stdout);
}

/* Filled memory: pages that nobody wrote would all be the one page of zeros. */
static inline char *measure_buffer(size_t length_bytes, int value)
{
    char *buffer = malloc(length_bytes + 1);
    for (size_t i = 0; i <= length_bytes; i++)
        buffer[i] = (char)(value + (int)(i >> 12));
    return buffer;
}

#endif
