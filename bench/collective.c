/* SPDX-License-Identifier: MIT */
/* How much computation fits beside blocking collectives, and how soon their data can be used.
 *
 *     collective --calibrate
 *     collective blocking|nonblocking int|double WARM_UP CALLS FUNCTION UNITS SIZE REPETITIONS [FUNCTION UNITS ...]
 *
 * CALLS collectives follow each other, each with buffers of its own; what is said of the collective below goes for all
 * of them together.
 *
 * SIZE is what a rank receives in all: the buffer of bcast and allreduce; SIZE / ranks from each rank in allgather and
 * alltoall (and their twins with lists of counts); from rank 0 in scatter (which sends SIZE * ranks); the rank's own
 * share in reduce_scatter_block; what rank 0 receives in reduce and gather. It is rounded down to whole elements.
 *
 * Each repetition takes, after a barrier each:
 *     the collective alone, then one byte of each page of the received data
 *     the work alone
 *     apart      the collective, the work, then one byte of each page
 *     in order   the collective, then for each block of 64 KiB: the block is read, and a part of the work is done
 *     the work in order alone, on data that are there
 * Ranks that sent write one byte of what they sent before the time ends. The work is a fixed number of units, so that a
 * slower core shows as a longer time. The slowest rank counts, for each time by itself. With `nonblocking` the twins
 * (MPI_Ibcast) are started instead, and waited for after the work, or where it is in order before it, since their data
 * may not be read earlier.
 *
 * What a rank sends depends on the call, the rank and the place. After each time all elements are compared with what
 * they must be, and what was read within the time with what is there now. Rank 0 prints one line of JSON for each four
 * words, or one with the error, and the job ends. --calibrate needs no MPI launcher. */
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum {
    PAGE_BYTES = 4096,
    BLOCK_BYTES = 64 << 10,
    ROOT = 0,
    FAILURE_BYTES = 200,
    WORDS_BEFORE = 5,
    WORDS_PER_POINT = 4
};
enum { COMM, CALL, COMP_APART, BOTH_APART, COMP_IN_ORDER, BOTH_IN_ORDER, FIRST_PAGE, KINDS };
static const char *kind_names[KINDS] = {"comm_us",          "call_us",          "comp_apart_us", "both_apart_us",
                                        "comp_in_order_us", "both_in_order_us", "first_page_us"};

enum function {
    BCAST,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLREDUCE,
    REDUCE,
    GATHER,
    SCATTER,
    REDUCE_SCATTER_BLOCK
};

/* Whose elements a rank receives: the root's, those of all one after the other, or the sums of all. */
enum source { FROM_ROOT, FROM_EACH, SUM };

static const struct collective {
    const char *name;
    enum function function;
    enum source source;
    bool is_split;        /* each rank receives a part of its own of what another sends */
    bool is_to_root_only; /* the others receive nothing */
} collectives[] = {
    {"bcast", BCAST, FROM_ROOT, false, false},
    {"allgather", ALLGATHER, FROM_EACH, false, false},
    {"alltoall", ALLTOALL, FROM_EACH, true, false},
    {"allreduce", ALLREDUCE, SUM, false, false},
    {"reduce", REDUCE, SUM, false, true},
    {"gather", GATHER, FROM_EACH, false, true},
    {"scatter", SCATTER, FROM_ROOT, true, false},
    {"reduce_scatter_block", REDUCE_SCATTER_BLOCK, SUM, true, false},
    {"allgatherv", ALLGATHERV, FROM_EACH, false, false},
    {"alltoallv", ALLTOALLV, FROM_EACH, true, false},
};

/* The collective alone, beside work apart, and beside work in order each have a call site and a communicator of their
 * own: a library that learns from either must not mix them. */
enum { ALONE, APART, IN_ORDER, PLACES };

struct call {
    char *out;
    char *in;
    MPI_Request request;
    unsigned touched; /* what was read within the time */
    uint64_t *block_sums;
};

struct job {
    int rank;
    int size;
    bool is_nonblocking;
    bool is_double;
    int warm_up;
    MPI_Datatype type;
    size_t element_bytes;
    MPI_Comm communicators[PLACES];

    const struct collective *collective;
    int count;          /* elements from one rank for another */
    int *counts;        /* the same for each rank, for functions that are given lists */
    int *displacements; /* of blocks in a row */
    size_t sent_count;
    size_t received_count; /* of this rank */
    size_t block_count;    /* of the work in order, also where a rank receives nothing */
    int call_count;        /* that follow each other */
    struct call *calls;
    char *out; /* of one of these, as below */
    char *in;
    unsigned number; /* of the collective, since the beginning */
    unsigned repetition;

    uint64_t page_sum;           /* of the first page of the first call */
    char failure[FAILURE_BYTES]; /* empty: none */
};

static inline __attribute__((always_inline)) void call_blocking(struct job *job, MPI_Comm communicator)
{
    char *out = job->out, *in = job->in;
    int count = job->count;
    MPI_Datatype type = job->type;
    switch (job->collective->function) {
    case BCAST:
        MPI_Bcast(in, count, type, ROOT, communicator);
        break;
    case ALLGATHER:
        MPI_Allgather(out, count, type, in, count, type, communicator);
        break;
    case ALLGATHERV:
        MPI_Allgatherv(out, count, type, in, job->counts, job->displacements, type, communicator);
        break;
    case ALLTOALLV:
        MPI_Alltoallv(out, job->counts, job->displacements, type, in, job->counts, job->displacements, type,
                      communicator);
        break;
    case ALLTOALL:
        MPI_Alltoall(out, count, type, in, count, type, communicator);
        break;
    case ALLREDUCE:
        MPI_Allreduce(out, in, count, type, MPI_SUM, communicator);
        break;
    case REDUCE:
        MPI_Reduce(out, in, count, type, MPI_SUM, ROOT, communicator);
        break;
    case GATHER:
        MPI_Gather(out, count, type, in, count, type, ROOT, communicator);
        break;
    case SCATTER:
        MPI_Scatter(out, count, type, in, count, type, ROOT, communicator);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(out, in, count, type, MPI_SUM, communicator);
        break;
    }
}

static inline __attribute__((always_inline)) void start_nonblocking(struct job *job, MPI_Comm communicator,
                                                                    MPI_Request *request)
{
    char *out = job->out, *in = job->in;
    int count = job->count;
    MPI_Datatype type = job->type;
    switch (job->collective->function) {
    case BCAST:
        MPI_Ibcast(in, count, type, ROOT, communicator, request);
        break;
    case ALLGATHER:
        MPI_Iallgather(out, count, type, in, count, type, communicator, request);
        break;
    case ALLGATHERV:
        MPI_Iallgatherv(out, count, type, in, job->counts, job->displacements, type, communicator, request);
        break;
    case ALLTOALLV:
        MPI_Ialltoallv(out, job->counts, job->displacements, type, in, job->counts, job->displacements, type,
                       communicator, request);
        break;
    case ALLTOALL:
        MPI_Ialltoall(out, count, type, in, count, type, communicator, request);
        break;
    case ALLREDUCE:
        MPI_Iallreduce(out, in, count, type, MPI_SUM, communicator, request);
        break;
    case REDUCE:
        MPI_Ireduce(out, in, count, type, MPI_SUM, ROOT, communicator, request);
        break;
    case GATHER:
        MPI_Igather(out, count, type, in, count, type, ROOT, communicator, request);
        break;
    case SCATTER:
        MPI_Iscatter(out, count, type, in, count, type, ROOT, communicator, request);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(out, in, count, type, MPI_SUM, communicator, request);
        break;
    }
}

/* From here on the job's buffers are those of this one of the calls that follow each other. */
static struct call *use_call(struct job *job, int index)
{
    struct call *call = &job->calls[index];
    job->in = call->in;
    job->out = call->out;
    job->number = job->repetition * (unsigned)job->call_count + (unsigned)index;
    return call;
}

static inline __attribute__((always_inline)) void begin(struct job *job, int place)
{
    for (int i = 0; i < job->call_count; i++) {
        struct call *call = use_call(job, i);
        if (job->is_nonblocking)
            start_nonblocking(job, job->communicators[place], &call->request);
        else
            call_blocking(job, job->communicators[place]);
    }
}

static void begin_alone(struct job *job)
{
    begin(job, ALONE);
}

static void begin_apart(struct job *job)
{
    begin(job, APART);
}

static void begin_in_order(struct job *job)
{
    begin(job, IN_ORDER);
}

static void finish(struct job *job)
{
    for (int i = 0; i < job->call_count && job->is_nonblocking; i++)
        MPI_Wait(&job->calls[i].request, MPI_STATUS_IGNORE);
}

static size_t received_bytes(const struct job *job)
{
    return job->received_count * job->element_bytes;
}

/* One byte of each page: whether the program may go on with all of it. */
static unsigned read_pages(const struct job *job)
{
    const volatile unsigned char *bytes = (const volatile unsigned char *)job->in;
    unsigned sum = 0;
    for (size_t i = 0; i < received_bytes(job); i += PAGE_BYTES)
        sum += bytes[i];
    return sum;
}

/* One byte of what was sent, with the value that it has: it may be rewritten now. */
static void rewrite_byte(struct job *job)
{
    volatile char *byte = job->out + job->sent_count / 2 * job->element_bytes;
    if (job->sent_count)
        *byte = *byte;
}

static void touch(struct job *job)
{
    for (int i = 0; i < job->call_count; i++) {
        struct call *call = use_call(job, i);
        call->touched = read_pages(job);
        rewrite_byte(job);
    }
}

static void rewrite_bytes(struct job *job)
{
    for (int i = 0; i < job->call_count; i++) {
        use_call(job, i);
        rewrite_byte(job);
    }
}

/* All of a part of the received data; of what goes beyond its end, nothing. */
static uint64_t sum_words(const struct job *job, size_t begin_byte, size_t length_bytes)
{
    size_t all = received_bytes(job);
    size_t end = begin_byte + length_bytes < all ? begin_byte + length_bytes : all;
    const uint32_t *words = (const uint32_t *)job->in;
    uint64_t sum = 0;
    for (size_t i = begin_byte / sizeof(uint32_t); i < end / sizeof(uint32_t); i++)
        sum += words[i];
    return sum;
}

/* Returns when the first page was read. */
static double work_in_order(struct job *job, long units)
{
    long blocks = (long)job->block_count, all = blocks * job->call_count;
    use_call(job, 0);
    job->page_sum = sum_words(job, 0, PAGE_BYTES);
    double first_us = measure_now_us();
    for (long i = 0; i < all; i++) {
        struct call *call = use_call(job, (int)(i / blocks));
        call->block_sums[i % blocks] = sum_words(job, (size_t)(i % blocks) * BLOCK_BYTES, BLOCK_BYTES);
        measure_work(units * (i + 1) / all - units * i / all);
    }
    return first_us;
}

/* 20 bits, so that sums are exact in both types; of two calls no element is the same. */
static int element_of(unsigned call, int rank, size_t index)
{
    return (int)(((uint32_t)index * 2654435761U + call * 40503U + (uint32_t)rank * 69069U) >> 12);
}

static int expected_element(const struct job *job, size_t index)
{
    size_t count = (size_t)job->count, before = job->collective->is_split ? (size_t)job->rank * count : 0;
    if (job->collective->source == FROM_ROOT)
        return element_of(job->number, ROOT, before + index);
    if (job->collective->source == FROM_EACH)
        return element_of(job->number, (int)(index / count), before + index % count);
    int sum = 0;
    for (int rank = 0; rank < job->size; rank++)
        sum += element_of(job->number, rank, before + index);
    return sum;
}

static double element_at(const struct job *job, size_t index)
{
    return job->is_double ? ((const double *)job->in)[index] : ((const int *)job->in)[index];
}

static void fill_call(struct job *job)
{
    for (size_t i = 0; i < job->sent_count; i++) {
        int element = element_of(job->number, job->rank, i);
        if (job->is_double)
            ((double *)job->out)[i] = element;
        else
            ((int *)job->out)[i] = element;
    }
}

/* The next repetition's data. What is received lies over the last one's. */
static void fill(struct job *job)
{
    job->repetition++;
    for (int i = 0; i < job->call_count; i++) {
        use_call(job, i);
        fill_call(job);
    }
}

/* The first failure counts. */
__attribute__((format(printf, 2, 3))) static void fail(struct job *job, const char *format, ...)
{
    if (job->failure[0])
        return;
    int length = snprintf(job->failure, FAILURE_BYTES, "rank %d, %s of %zu bytes, call %u: ", job->rank,
                          job->collective->name, received_bytes(job), job->number);
    va_list values;
    va_start(values, format);
    vsnprintf(job->failure + length, FAILURE_BYTES - (size_t)length, format, values);
    va_end(values);
}

static void check_elements(struct job *job)
{
    for (size_t i = 0; i < job->received_count && !job->failure[0]; i++) {
        int expected = expected_element(job, i);
        if (element_at(job, i) != expected)
            fail(job, "element %zu is %.0f, must be %d", i, element_at(job, i), expected);
    }
}

static void check_touched(struct job *job)
{
    for (int i = 0; i < job->call_count; i++) {
        const struct call *call = use_call(job, i);
        check_elements(job);
        unsigned now = read_pages(job);
        if (call->touched != now)
            fail(job, "the bytes read after the work had the sum %u, later they had %u", call->touched, now);
    }
}

static void check_blocks(struct job *job, const struct call *call)
{
    check_elements(job);
    for (size_t i = 0; i < job->block_count; i++)
        if (call->block_sums[i] != sum_words(job, i * BLOCK_BYTES, BLOCK_BYTES))
            fail(job, "block %zu was not there when it was read", i);
}

static void check_in_order(struct job *job)
{
    use_call(job, 0);
    if (job->page_sum != sum_words(job, 0, PAGE_BYTES))
        fail(job, "the first page was not there when it was read");
    for (int i = 0; i < job->call_count; i++)
        check_blocks(job, use_call(job, i));
}

static void measure_alone(struct job *job, double *times_us)
{
    fill(job);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    begin_alone(job);
    finish(job);
    touch(job);
    times_us[COMM] = measure_now_us() - begin_us;
    check_touched(job);
}

static void measure_work_alone(struct job *job, long units, double *times_us)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    measure_work(units);
    times_us[COMP_APART] = measure_now_us() - begin_us;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_us = measure_now_us();
    work_in_order(job, units);
    times_us[COMP_IN_ORDER] = measure_now_us() - begin_us;
}

static void measure_apart(struct job *job, long units, double *times_us)
{
    fill(job);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    begin_apart(job);
    times_us[CALL] = measure_now_us() - begin_us;
    measure_work(units);
    finish(job);
    touch(job);
    times_us[BOTH_APART] = measure_now_us() - begin_us;
    check_touched(job);
}

static void measure_in_order(struct job *job, long units, double *times_us)
{
    fill(job);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    begin_in_order(job);
    finish(job);
    times_us[FIRST_PAGE] = work_in_order(job, units) - begin_us;
    rewrite_bytes(job);
    times_us[BOTH_IN_ORDER] = measure_now_us() - begin_us;
    check_in_order(job);
}

/* All ranks learn of the lowest rank's failure, and rank 0 prints it. */
static bool has_failed(struct job *job)
{
    int own = job->failure[0] ? job->rank : job->size, first;
    MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == job->size)
        return false;
    MPI_Bcast(job->failure, FAILURE_BYTES, MPI_CHAR, first, MPI_COMM_WORLD);
    if (job->rank == 0) {
        printf("{\"error\": \"%s\"}\n", job->failure);
        fflush(stdout);
    }
    return true;
}

/* Returns false when the data were wrong. */
static bool repeat(struct job *job, long units, int repetitions, double (*own_us)[KINDS])
{
    for (int i = -job->warm_up; i < repetitions; i++) {
        double *times_us = own_us[i < 0 ? 0 : i];
        measure_alone(job, times_us);
        measure_work_alone(job, units, times_us);
        measure_apart(job, units, times_us);
        measure_in_order(job, units, times_us);
        if (has_failed(job))
            return false;
    }
    return true;
}

static bool measure_point(struct job *job, long units, int length_bytes, int repetitions)
{
    double(*own_us)[KINDS] = calloc((size_t)repetitions, sizeof(*own_us));
    double(*slowest_us)[KINDS] = calloc((size_t)repetitions, sizeof(*slowest_us));
    bool is_right = repeat(job, units, repetitions, own_us);
    if (is_right)
        MPI_Reduce(own_us, slowest_us, repetitions * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (is_right && job->rank == 0)
        measure_print_kinds(length_bytes, kind_names, KINDS, slowest_us[0], repetitions);
    free(slowest_us);
    free(own_us);
    return is_right;
}

static const struct collective *find_collective(const char *name)
{
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
        if (strcmp(collectives[i].name, name) == 0)
            return &collectives[i];
    return NULL;
}

static void choose_counts(struct job *job, size_t length_bytes)
{
    const struct collective *collective = job->collective;
    size_t ranks = (size_t)job->size, parts = collective->source == FROM_EACH ? ranks : 1;
    size_t count = length_bytes / (parts * job->element_bytes);
    bool is_root = job->rank == ROOT;
    job->count = (int)count;
    job->received_count = collective->is_to_root_only && !is_root ? 0 : count * parts;
    job->sent_count = collective->source == FROM_ROOT && !is_root ? 0 : count * (collective->is_split ? ranks : 1);
    job->block_count = (length_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static void make_lists(struct job *job)
{
    job->counts = calloc((size_t)job->size, sizeof *job->counts);
    job->displacements = calloc((size_t)job->size, sizeof *job->displacements);
    for (int rank = 0; rank < job->size; rank++) {
        job->counts[rank] = job->count;
        job->displacements[rank] = rank * job->count;
    }
}

/* A broadcast has one buffer. */
static struct call make_call(const struct job *job)
{
    struct call call = {.request = MPI_REQUEST_NULL, .in = measure_buffer(received_bytes(job), job->rank)};
    call.out = call.in;
    if (job->collective->function != BCAST)
        call.out = measure_buffer(job->sent_count * job->element_bytes, job->rank);
    call.block_sums = calloc(job->block_count, sizeof(*call.block_sums));
    return call;
}

static void make_calls(struct job *job)
{
    make_lists(job);
    job->calls = calloc((size_t)job->call_count, sizeof(*job->calls));
    for (int i = 0; i < job->call_count; i++)
        job->calls[i] = make_call(job);
}

static void free_calls(struct job *job)
{
    for (int i = 0; i < job->call_count; i++) {
        struct call *call = &job->calls[i];
        free(call->block_sums);
        if (call->out != call->in)
            free(call->out);
        free(call->in);
    }
    free(job->calls);
    free(job->counts);
    free(job->displacements);
}

static bool run_point(struct job *job, char **words)
{
    int length_bytes = atoi(words[2]);
    job->collective = find_collective(words[0]);
    if (!job->collective)
        MPI_Abort(MPI_COMM_WORLD, 2);
    choose_counts(job, (size_t)length_bytes);
    make_calls(job);
    bool is_right = measure_point(job, atol(words[1]), length_bytes, atoi(words[3]));
    free_calls(job);
    return is_right;
}

static bool run_points(struct job *job, int argc, char **argv)
{
    for (int place = 0; place < PLACES; place++)
        MPI_Comm_dup(MPI_COMM_WORLD, &job->communicators[place]);
    bool is_right = true;
    for (int i = WORDS_BEFORE; i < argc && is_right; i += WORDS_PER_POINT)
        is_right = run_point(job, argv + i);
    for (int place = 0; place < PLACES; place++)
        MPI_Comm_free(&job->communicators[place]);
    return is_right;
}

static int usage(int rank)
{
    if (rank == 0)
        fprintf(stderr, "usage, on 2 ranks or more: collective blocking|nonblocking int|double WARM_UP CALLS "
                        "FUNCTION UNITS SIZE REPETITIONS [FUNCTION UNITS SIZE REPETITIONS ...]\n");
    MPI_Finalize();
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    MPI_Init(&argc, &argv);
    struct job job = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (job.size < 2 || argc < WORDS_BEFORE + WORDS_PER_POINT || (argc - WORDS_BEFORE) % WORDS_PER_POINT != 0)
        return usage(job.rank);
    job.is_nonblocking = strcmp(argv[1], "nonblocking") == 0;
    job.is_double = strcmp(argv[2], "double") == 0;
    job.type = job.is_double ? MPI_DOUBLE : MPI_INT;
    job.element_bytes = job.is_double ? sizeof(double) : sizeof(int);
    job.warm_up = atoi(argv[3]);
    job.call_count = atoi(argv[4]);
    if (job.call_count < 1)
        return usage(job.rank);
    bool is_right = run_points(&job, argc, argv);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
