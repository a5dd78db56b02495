/* SPDX-License-Identifier: MIT */
/* What a hold and its release cost together, by size, kind, backend and kind of
 * page: medians and quartiles in microseconds. The pages are there before each
 * measurement. "edges" is a receive whose buffer begins and ends inside a page
 * that other threads may use; "pages" is a receive that fills its pages. "moved" is a
 * send with copies on touch that nobody touches, alone and beside other threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "protect/protect.h"

enum { SAMPLES = 101, WARM_UP = 40, HUGE_PAGE_BYTES = 2 << 20, PAGE_BYTES = 4096, SIZE_MAX_BYTES = 64 << 20 };

/* Where the buffer begins, and on what pages. */
struct place {
    const char *name;
    int advice;
    size_t offset_bytes; /* from a multiple of a huge page */
};

/* "small, off": a little after a multiple of 2 MiB is the dearest place: nearly
 * a whole table of 512 pages has to be moved page by page. "made huge": small
 * pages that sends turn into huge ones during the warm-up (protect/huge.h). */
static const struct place places[] = {
    {"made huge", MADV_NORMAL, 0}, /* first: what could not be made huge is remembered by its address */
    {"small", MADV_NOHUGEPAGE, 0},
    {"small, off", MADV_NOHUGEPAGE, 3 * PAGE_BYTES},
    {"huge", MADV_HUGEPAGE, 0},
};

/* What is measured: one row of the table per size. */
struct shape {
    const char *name;
    enum hold_kind kind;
    size_t inset_bytes; /* at both ends */
    bool has_threads;   /* that may touch the memory meanwhile */
};

static const struct shape shapes[] = {
    {"receive, pages", HOLD_NO_ACCESS, 0, true},
    {"receive, edges", HOLD_NO_ACCESS, 16, true},
    {"send", HOLD_NO_WRITE, 0, true},
    {"send, moved", HOLD_COPY_ON_TOUCH, 0, false},
    {"send, threads", HOLD_COPY_ON_TOUCH, 0, true},
};

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void populate(char *memory, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i += PAGE_BYTES)
        ((volatile char *)memory)[i] = 1;
}

/* Nanoseconds, or -1 when the kernel refuses. */
static int64_t measure_once(enum hold_kind kind, struct range bytes)
{
    struct hold *hold = NULL;
    int64_t start_ns = base_clock_now_ns();
    if (protect_hold_arm(kind, bytes, 1, &hold) != REASON_NONE)
        return -1;
    protect_hold_release(hold);
    return base_clock_now_ns() - start_ns;
}

static void measure(const struct shape *shape, char *memory, size_t length_bytes, const struct place *place)
{
    int64_t times_ns[SAMPLES];
    struct range bytes = base_range_of(memory + shape->inset_bytes, length_bytes - 2 * shape->inset_bytes);
    for (int i = -WARM_UP; i < SAMPLES; i++) {
        populate(memory, length_bytes);
        times_ns[i < 0 ? 0 : i] = measure_once(shape->kind, bytes);
    }
    qsort(times_ns, SAMPLES, sizeof(times_ns[0]), compare_times);
    printf("%-17s %-15s %-10s %7zu  %8.1f  %8.1f  %8.1f\n", protect_backend_name(), shape->name, place->name,
           length_bytes >> 10, (double)times_ns[SAMPLES / 4] / 1e3, (double)times_ns[SAMPLES / 2] / 1e3,
           (double)times_ns[3 * SAMPLES / 4] / 1e3);
}

static char *memory_map(size_t space_bytes, int advice)
{
    char *memory = mmap(NULL, space_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(EXIT_FAILURE);
    madvise(memory, space_bytes, advice);
    memset(memory, 1, space_bytes);
    return memory;
}

/* Fresh memory for each row: a hold may leave huge pages split. */
static void measure_row(const struct shape *shape, const struct place *place, size_t length_bytes)
{
    size_t space_bytes = length_bytes + 2 * HUGE_PAGE_BYTES;
    char *memory = memory_map(space_bytes, place->advice);
    uintptr_t aligned = ((uintptr_t)memory + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    measure(shape, (char *)aligned + place->offset_bytes, length_bytes, place);
    munmap(memory, space_bytes);
}

static void measure_sizes(const struct shape *shape, const struct place *place)
{
    if (shape->kind == HOLD_COPY_ON_TOUCH && !protect_copies_touched())
        return;
    protect_threads_set(shape->has_threads);
    static const size_t sizes_bytes[] = {64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, SIZE_MAX_BYTES};
    for (size_t i = 0; i < sizeof(sizes_bytes) / sizeof(sizes_bytes[0]); i++)
        measure_row(shape, place, sizes_bytes[i]);
}

static void measure_backend(enum option_hold choice)
{
    if (!protect_start(choice, NULL))
        return;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++)
            measure_sizes(&shapes[i], &places[j]);
    protect_stop();
}

int main(void)
{
    printf("%-17s %-15s %-10s %7s  %8s  %8s  %8s\n", "backend", "hold", "pages", "KiB", "25 %", "median us", "75 %");
    measure_backend(OPTION_HOLD_USERFAULTFD);
    measure_backend(OPTION_HOLD_USERFAULTFD_USER);
    measure_backend(OPTION_HOLD_SIGNAL);
    measure_backend(OPTION_HOLD_KEYS);
    return 0;
}
