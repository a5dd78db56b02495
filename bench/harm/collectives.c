/* SPDX-License-Identifier: MIT */
/* Blocking collectives with nothing to gain: each writes its data before the call and reads all that came right after
 * it. A line of JSON for each size; its time is that of one call, from the very first one on.
 *
 *     collectives bcast|allgather|alltoall|allreduce-int|allreduce-double BYTES:CALLS ...
 *
 * BYTES: what a rank receives in all; of bcast and allreduce the buffer. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "report_ranks.h"

enum { WORD_BYTES = sizeof(int) };

/* What a call works on. As ints: a sum of two ranks' is right in doubles and ints alike, and a block has whole ones. */
struct loop {
    int rank, size, bytes;
    void *sent, *received;
};

static void call_bcast(const struct loop *loop)
{
    MPI_Bcast(loop->rank == 0 ? loop->sent : loop->received, loop->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void call_allgather(const struct loop *loop)
{
    int block = loop->bytes / loop->size;
    MPI_Allgather(loop->sent, block, MPI_BYTE, loop->received, block, MPI_BYTE, MPI_COMM_WORLD);
}

static void call_alltoall(const struct loop *loop)
{
    int block = loop->bytes / loop->size;
    MPI_Alltoall(loop->sent, block, MPI_BYTE, loop->received, block, MPI_BYTE, MPI_COMM_WORLD);
}

static void call_allreduce_int(const struct loop *loop)
{
    MPI_Allreduce(loop->sent, loop->received, loop->bytes / WORD_BYTES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_allreduce_double(const struct loop *loop)
{
    MPI_Allreduce(loop->sent, loop->received, loop->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct function {
    const char *name;
    void (*call)(const struct loop *loop);
} functions[] = {{"bcast", call_bcast},
                 {"allgather", call_allgather},
                 {"alltoall", call_alltoall},
                 {"allreduce-int", call_allreduce_int},
                 {"allreduce-double", call_allreduce_double}};

static const struct function *find_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    fprintf(stderr, "there is no %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return NULL;
}

/* Bytes of equal value make sums of ints and doubles alike that are never nothing. */
static void write_data(const struct loop *loop, long number)
{
    memset(loop->sent, 1 + (int)(number % 31), (size_t)loop->bytes);
}

static long read_data(const struct loop *loop)
{
    const int *words = loop->received;
    long sum = 0;
    for (int i = 0; i < loop->bytes / WORD_BYTES; i++)
        sum += words[i];
    return sum;
}

static void check_data(const struct loop *loop, const struct function *function, long sum)
{
    int receives = function->call != call_bcast || loop->rank != 0;
    if (receives && sum == 0) {
        fprintf(stderr, "%s brought no data\n", function->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void run_loop(struct loop *loop, const struct function *function, long calls)
{
    long sum = 0;
    loop->sent = calloc(1, (size_t)loop->bytes);
    loop->received = calloc(1, (size_t)loop->bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (long i = 0; i < calls; i++) {
        write_data(loop, i);
        function->call(loop);
        sum = read_data(loop);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    report_ranks((MPI_Wtime() - begin_s) * 1e6 / (double)calls);
    check_data(loop, function, sum);
    free(loop->sent);
    free(loop->received);
}

int main(int argc, char **argv)
{
    struct loop loop = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &loop.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &loop.size);
    const struct function *function = find_function(argc > 1 ? argv[1] : "bcast");
    for (int i = 2; i < argc; i++) {
        char *calls;
        loop.bytes = (int)strtol(argv[i], &calls, 10);
        run_loop(&loop, function, *calls == ':' ? atol(calls + 1) : 1);
    }
    MPI_Finalize();
    return 0;
}
