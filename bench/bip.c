/* SPDX-License-Identifier: MIT */
/* The overlap experiments of the MPI-BIP report (Chaussumier, Desprez, Prylli, INRIA RR-3960, 2000).
 *
 *     bip --calibrate MATRIX_BYTES
 *     bip MATRIX_BYTES PRODUCTS iprobe|test SIZE REPETITIONS [SIZE REPETITIONS ...]
 *
 * One rank sends to another and both compute, then the same backwards (several pairs at once: partner.h). The work is
 * PRODUCTS matrix-vector products in four blocks. Four ways: blocking calls before the work; nonblocking ones with the
 * wait after it; these with an MPI call in the outer loop (after each block); and in the inner loop (after each
 * product). The call is MPI_Iprobe for a tag that nobody uses, the report's choice, or MPI_Test on the request. Per
 * repetition each way takes its turn, and the messages and the work alone; the slowest rank counts. Rank 0 prints one
 * line of JSON per size. --calibrate needs no MPI launcher. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "measure.h"
#include "partner.h"

enum { WARM_UP = 2, TAG = 1, UNUSED_TAG = 2, BLOCKS = 4 };
enum { COMM, COMP, BLOCKING, NONBLOCKING, OUTER, INNER, KINDS };
static const char *kind_names[KINDS] = {"comm_us", "comp_us", "blocking_us", "nonblocking_us", "outer_us", "inner_us"};

typedef void poke_function(MPI_Request *request);

struct job {
    struct partner partner;
    int order; /* of the matrix */
    long products;
    double *matrix;
    double *in;
    double *out;
    poke_function *poke;
    char *buffer;
    int length_bytes;
};

/* Who pokes where; NULL: not there. */
struct pokes {
    poke_function *outer;
    poke_function *inner;
};

static void poke_iprobe(MPI_Request *request)
{
    int is_there;
    (void)request;
    MPI_Iprobe(MPI_ANY_SOURCE, UNUSED_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
}

static void poke_test(MPI_Request *request)
{
    int is_done;
    MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
}

static double multiply_row(const struct job *job, int row)
{
    const double *values = job->matrix + (size_t)row * (size_t)job->order;
    double sum = 0;
    for (int i = 0; i < job->order; i++)
        sum += values[i] * job->in[i];
    return sum;
}

static void multiply(struct job *job)
{
    for (int row = 0; row < job->order; row++)
        job->out[row] = multiply_row(job, row);
    double *result = job->out;
    job->out = job->in;
    job->in = result;
}

static void work_block(struct job *job, long products, poke_function *poke, MPI_Request *request)
{
    for (long i = 0; i < products; i++) {
        multiply(job);
        if (poke)
            poke(request);
    }
}

static void work(struct job *job, struct pokes pokes, MPI_Request *request)
{
    for (long i = 0; i < BLOCKS; i++) {
        work_block(job, job->products * (i + 1) / BLOCKS - job->products * i / BLOCKS, pokes.inner, request);
        if (pokes.outer)
            pokes.outer(request);
    }
}

static void move_blocking(struct job *job, bool is_sender)
{
    if (is_sender)
        MPI_Send(job->buffer, job->length_bytes, MPI_BYTE, job->partner.peer, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(job->buffer, job->length_bytes, MPI_BYTE, job->partner.peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Inlined, so that each way has call sites of its own: a library that learns from call sites must not mix them. */
static inline __attribute__((always_inline)) void start(struct job *job, bool is_sender, MPI_Request *request)
{
    if (is_sender)
        MPI_Isend(job->buffer, job->length_bytes, MPI_BYTE, job->partner.peer, TAG, MPI_COMM_WORLD, request);
    else
        MPI_Irecv(job->buffer, job->length_bytes, MPI_BYTE, job->partner.peer, TAG, MPI_COMM_WORLD, request);
}

static inline __attribute__((always_inline)) void half_nonblocking(struct job *job, bool is_sender, struct pokes pokes)
{
    MPI_Request request;
    start(job, is_sender, &request);
    work(job, pokes, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Nonblocking calls, so that a library which lets blocking ones return early has nothing to hide here. */
static void run_comm(struct job *job)
{
    MPI_Request request;
    for (int half = 0; half < 2; half++) {
        start(job, job->partner.is_first == (half == 0), &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void run_comp(struct job *job)
{
    for (int half = 0; half < 2; half++)
        work(job, (struct pokes){0}, NULL);
}

static void run_blocking(struct job *job)
{
    for (int half = 0; half < 2; half++) {
        move_blocking(job, job->partner.is_first == (half == 0));
        work(job, (struct pokes){0}, NULL);
    }
}

static void run_nonblocking(struct job *job)
{
    for (int half = 0; half < 2; half++)
        half_nonblocking(job, job->partner.is_first == (half == 0), (struct pokes){0});
}

static void run_outer(struct job *job)
{
    for (int half = 0; half < 2; half++)
        half_nonblocking(job, job->partner.is_first == (half == 0), (struct pokes){.outer = job->poke});
}

static void run_inner(struct job *job)
{
    for (int half = 0; half < 2; half++)
        half_nonblocking(job, job->partner.is_first == (half == 0), (struct pokes){.inner = job->poke});
}

static void (*const runs[KINDS])(struct job *job) = {run_comm,        run_comp,  run_blocking,
                                                     run_nonblocking, run_outer, run_inner};

static double time_once(struct job *job, void (*run)(struct job *job))
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    run(job);
    return measure_now_us() - begin_us;
}

static void measure_size(struct job *job, int length_bytes, int repetitions)
{
    double(*own_us)[KINDS] = calloc((size_t)repetitions, sizeof(*own_us));
    double(*slowest_us)[KINDS] = calloc((size_t)repetitions, sizeof(*slowest_us));
    job->length_bytes = length_bytes;
    job->buffer = measure_buffer((size_t)length_bytes, job->partner.rank);
    for (int i = -WARM_UP; i < repetitions; i++) {
        for (int kind = 0; kind < KINDS; kind++)
            own_us[i < 0 ? 0 : i][kind] = time_once(job, runs[kind]);
    }
    MPI_Reduce(own_us, slowest_us, repetitions * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->partner.rank == 0)
        measure_print_kinds(length_bytes, kind_names, KINDS, slowest_us[0], repetitions);
    free(job->buffer);
    free(slowest_us);
    free(own_us);
}

/* Rows that sum to one: the vector neither grows nor becomes denormal. */
static void prepare_matrix(struct job *job, long matrix_bytes)
{
    job->order = (int)sqrt((double)matrix_bytes / sizeof(double));
    size_t order = (size_t)(job->order < 1 ? 1 : job->order);
    job->order = (int)order;
    job->matrix = malloc(order * order * sizeof(double));
    job->in = malloc(order * sizeof(double));
    job->out = malloc(order * sizeof(double));
    for (size_t i = 0; i < order * order; i++)
        job->matrix[i] = 1.0 / (double)order;
    for (size_t i = 0; i < order; i++)
        job->in[i] = job->out[i] = 1.0;
}

static void release_matrix(struct job *job)
{
    free(job->matrix);
    free(job->in);
    free(job->out);
}

static int calibrate(long matrix_bytes)
{
    struct job job = {.products = 1};
    prepare_matrix(&job, matrix_bytes);
    double best_us = 1e300;
    for (int i = 0; i < 200; i++) {
        double begin_us = measure_now_us();
        work(&job, (struct pokes){0}, NULL);
        double elapsed_us = measure_now_us() - begin_us;
        best_us = elapsed_us < best_us ? elapsed_us : best_us;
    }
    printf("{\"order\": %d, \"products_per_ms\": %.3f}\n", job.order, 1000 / best_us);
    release_matrix(&job);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--calibrate") == 0)
        return calibrate(atol(argv[2]));
    MPI_Init(&argc, &argv);
    struct job job = {0};
    if (!partner_find(&job.partner) || argc < 6 || argc % 2 != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    prepare_matrix(&job, atol(argv[1]));
    job.products = atol(argv[2]);
    job.poke = strcmp(argv[3], "test") == 0 ? poke_test : poke_iprobe;
    for (int i = 4; i + 1 < argc; i += 2)
        measure_size(&job, atoi(argv[i]), atoi(argv[i + 1]));
    release_matrix(&job);
    MPI_Finalize();
    return 0;
}
