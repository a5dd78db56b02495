/* SPDX-License-Identifier: MIT */
/* Heat flow in a block of material: 7-point stencil, explicit time steps.
 *
 *     heat3d NX NY NZ STEPS [all|exchange|update|PERCENT [MORE]]
 *
 * Each rank owns NZ planes of NX x NY cells; the ranks form a ring in z. A
 * step exchanges the faces with both neighbours, updates the planes that need
 * no neighbour, then the two that do. exchange and update leave the other half out.
 * PERCENT of the steps exchange by nonblocking calls; the last rank owns MORE planes more. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_UP = 1, TAG_DOWN = 2 };

struct block {
    int nx, ny, nz;
    size_t plane;  /* cells of a plane */
    double *now;   /* nz planes */
    double *next;  /* nz planes */
    double *below; /* last plane of the neighbour below */
    double *above; /* first plane of the neighbour above */
    int rank, up, down;
};

static double *allocate(size_t cells)
{
    double *memory = malloc(cells * sizeof(double));
    if (!memory) {
        fprintf(stderr, "heat3d: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(memory, 0, cells * sizeof(double));
    return memory;
}

static void block_create(struct block *block)
{
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &block->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    block->up = (block->rank + 1) % size;
    block->down = (block->rank + size - 1) % size;
    block->plane = (size_t)block->nx * (size_t)block->ny;
    block->now = allocate(block->plane * (size_t)block->nz);
    block->next = allocate(block->plane * (size_t)block->nz);
    block->below = allocate(block->plane);
    block->above = allocate(block->plane);
    for (size_t i = 0; i < block->plane * (size_t)block->nz; i++)
        block->now[i] = (double)((i * 2654435761u + (size_t)block->rank) % 1000);
}

static void block_destroy(struct block *block)
{
    free(block->now);
    free(block->next);
    free(block->below);
    free(block->above);
}

static void exchange_faces(struct block *block)
{
    int count = (int)block->plane;
    double *first = block->now, *last = block->now + block->plane * (size_t)(block->nz - 1);
    MPI_Sendrecv(last, count, MPI_DOUBLE, block->up, TAG_UP, block->below, count, MPI_DOUBLE, block->down, TAG_UP,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(first, count, MPI_DOUBLE, block->down, TAG_DOWN, block->above, count, MPI_DOUBLE, block->up, TAG_DOWN,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Updates one plane from itself and the planes below and above it; its edges
 * keep their temperature. */
static void update_plane(const struct block *block, int z, const double *below, const double *above)
{
    const double *now = block->now + block->plane * (size_t)z;
    double *next = block->next + block->plane * (size_t)z;
    int nx = block->nx;
    memcpy(next, now, block->plane * sizeof(double));
    for (int y = 1; y < block->ny - 1; y++)
        for (int i = y * nx + 1; i < (y + 1) * nx - 1; i++)
            next[i] = 0.4 * now[i] + 0.1 * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] + below[i] + above[i]);
}

static const double *plane_at(const struct block *block, int z)
{
    return block->now + block->plane * (size_t)z;
}

static void update_interior(const struct block *block)
{
    for (int z = 1; z < block->nz - 1; z++)
        update_plane(block, z, plane_at(block, z - 1), plane_at(block, z + 1));
}

static void update_faces(const struct block *block)
{
    int last = block->nz - 1;
    update_plane(block, 0, block->below, plane_at(block, 1));
    update_plane(block, last, plane_at(block, last - 1), block->above);
}

static void swap_planes(struct block *block)
{
    double *old = block->now;
    block->now = block->next;
    block->next = old;
}

static void step(struct block *block, int with_exchange, int with_update)
{
    if (with_exchange)
        exchange_faces(block);
    if (with_update) {
        update_interior(block);
        update_faces(block);
    }
    swap_planes(block);
}

/* The exchange as a programmer would convert it: begun here, and waited for
 * when the planes that need no neighbour are done. */
static void start_exchange(const struct block *block, MPI_Request *requests)
{
    int count = (int)block->plane;
    const double *first = plane_at(block, 0), *last = plane_at(block, block->nz - 1);
    MPI_Irecv(block->below, count, MPI_DOUBLE, block->down, TAG_UP, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(block->above, count, MPI_DOUBLE, block->up, TAG_DOWN, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(last, count, MPI_DOUBLE, block->up, TAG_UP, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(first, count, MPI_DOUBLE, block->down, TAG_DOWN, MPI_COMM_WORLD, &requests[3]);
}

static void step_converted(struct block *block)
{
    MPI_Request requests[4];
    start_exchange(block, requests);
    update_interior(block);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    update_faces(block);
    swap_planes(block);
}

/* So many of a hundred steps exchange by nonblocking calls: alpha in percent. */
static int is_converted(int number, int percent)
{
    return (number + 1) * percent / 100 > number * percent / 100;
}

/* Every bit of every cell counts, whatever the order of the ranks. */
static uint64_t checksum(const struct block *block)
{
    uint64_t own = 0, all = 0;
    for (size_t i = 0; i < block->plane * (size_t)block->nz; i++) {
        uint64_t bits;
        memcpy(&bits, &block->now[i], sizeof(bits));
        own += bits * (2 * i + 1);
    }
    own *= 2 * (uint64_t)block->rank + 1;
    MPI_Reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

static double run_steps(struct block *block, int steps, const char *part)
{
    int with_exchange = strcmp(part, "update") != 0, with_update = strcmp(part, "exchange") != 0;
    int percent = atoi(part);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        if (is_converted(i, percent))
            step_converted(block);
        else
            step(block, with_exchange, with_update);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin_s;
}

/* The last rank owns so many planes more: its work is uneven. */
static void add_planes(struct block *block, int more)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (more > 0 && rank == size - 1)
        block->nz += more;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct block block = {0};
    if (argc < 5 || (block.nx = atoi(argv[1])) < 3 || (block.ny = atoi(argv[2])) < 3 ||
        (block.nz = atoi(argv[3])) < 2) {
        fprintf(stderr, "usage: heat3d NX NY NZ STEPS [all|exchange|update|PERCENT [MORE]]\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    add_planes(&block, argc > 6 ? atoi(argv[6]) : 0);
    block_create(&block);
    double elapsed_s = run_steps(&block, atoi(argv[4]), argc > 5 ? argv[5] : "all");
    uint64_t sum = checksum(&block);
    if (block.rank == 0)
        printf("time %.6f s, checksum %016llx\n", elapsed_s, (unsigned long long)sum);
    fflush(stdout);
    block_destroy(&block);
    MPI_Finalize();
    return 0;
}
