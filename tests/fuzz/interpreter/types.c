/* SPDX-License-Identifier: MIT */
/* Datatypes, packing, and communicators. */
#include <string.h>

#include "machine.h"

MPI_Datatype types_table[TYPES_MAX];
bool types_is_mixed[TYPES_MAX];
MPI_Comm comms_table[COMMS_MAX];

void types_begin(void)
{
    const MPI_Datatype builtin[BUILTIN_COUNT] = {MPI_BYTE,          MPI_CHAR,
                                                 MPI_SHORT,         MPI_INT,
                                                 MPI_DOUBLE,        MPI_UINT64_T,
                                                 MPI_UNSIGNED,      MPI_SIGNED_CHAR,
                                                 MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                                 MPI_LONG,          MPI_UNSIGNED_LONG,
                                                 MPI_LONG_LONG,     MPI_UNSIGNED_LONG_LONG,
                                                 MPI_FLOAT,         MPI_2INT};
    for (int i = 0; i < TYPES_MAX; i++)
        types_table[i] = i < BUILTIN_COUNT ? builtin[i] : MPI_DATATYPE_NULL;
    memset(types_is_mixed, 0, sizeof types_is_mixed);
}

void types_end(void)
{
    for (int i = BUILTIN_COUNT; i < TYPES_MAX; i++) {
        if (types_table[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&types_table[i]);
    }
}

static MPI_Datatype *type_new(int64_t index)
{
    if (index < BUILTIN_COUNT || index >= TYPES_MAX || types_table[index] != MPI_DATATYPE_NULL)
        machine_refuse("the type exists");
    return &types_table[index];
}

static void type_finish(int64_t index, int64_t old, int result)
{
    types_is_mixed[index] = old < 0 || types_is_mixed[old];
    machine_observe_result(result);
    machine_observe_result(MPI_Type_commit(&types_table[index]));
}

/* contiguous type old count */
static void run_contiguous(const int64_t *a)
{
    type_finish(a[0], a[1], MPI_Type_contiguous((int)a[2], types_table[a[1]], type_new(a[0])));
}

/* vector type old count blocklength stride */
static void run_vector(const int64_t *a)
{
    type_finish(a[0], a[1], MPI_Type_vector((int)a[2], (int)a[3], (int)a[4], types_table[a[1]], type_new(a[0])));
}

/* resized type old lower extent */
static void run_resized(const int64_t *a)
{
    type_finish(a[0], a[1], MPI_Type_create_resized(types_table[a[1]], (MPI_Aint)a[2], (MPI_Aint)a[3], type_new(a[0])));
}

/* indexed type old count (length displacement)...: displacements in bytes */
static void run_indexed(const int64_t *a)
{
    int lengths[ARGUMENTS_MAX];
    MPI_Aint displacements[ARGUMENTS_MAX];
    for (int i = 0; i < (int)a[2]; i++) {
        lengths[i] = (int)a[3 + 2 * i];
        displacements[i] = (MPI_Aint)a[4 + 2 * i];
    }
    type_finish(a[0], a[1],
                MPI_Type_create_hindexed((int)a[2], lengths, displacements, types_table[a[1]], type_new(a[0])));
}

/* struct type count (old length displacement)... */
static void run_struct(const int64_t *a)
{
    int lengths[ARGUMENTS_MAX];
    MPI_Aint displacements[ARGUMENTS_MAX];
    MPI_Datatype olds[ARGUMENTS_MAX];
    for (int i = 0; i < (int)a[1]; i++) {
        olds[i] = types_table[a[2 + 3 * i]];
        lengths[i] = (int)a[3 + 3 * i];
        displacements[i] = (MPI_Aint)a[4 + 3 * i];
    }
    type_finish(a[0], -1, MPI_Type_create_struct((int)a[1], lengths, displacements, olds, type_new(a[0])));
}

/* typefree type: perhaps while messages of that type are under way */
static void run_typefree(const int64_t *a)
{
    machine_observe_result(MPI_Type_free(&types_table[a[0]]));
}

/* pack buffer offset count type buffer offset size comm */
static void run_pack(const int64_t *a)
{
    int position = 0;
    machine_observe_result(MPI_Pack(memory_at(a[0], a[1]), (int)a[2], types_table[a[3]], memory_at(a[4], a[5]),
                                    (int)a[6], &position, comms_table[a[7]]));
    machine_observe((uint64_t)position);
}

/* unpack buffer offset size buffer offset count type comm */
static void run_unpack(const int64_t *a)
{
    int position = 0;
    machine_observe_result(MPI_Unpack(memory_at(a[0], a[1]), (int)a[2], &position, memory_at(a[3], a[4]), (int)a[5],
                                      types_table[a[6]], comms_table[a[7]]));
    machine_observe((uint64_t)position);
}

void comms_begin(void)
{
    for (int i = 0; i < COMMS_MAX; i++)
        comms_table[i] = MPI_COMM_NULL;
    comms_table[0] = MPI_COMM_WORLD;
    comms_table[1] = MPI_COMM_SELF;
}

void comms_end(void)
{
    for (int i = 2; i < COMMS_MAX; i++) {
        if (comms_table[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms_table[i]);
    }
}

static MPI_Comm *comm_new(int64_t index)
{
    if (index < 2 || index >= COMMS_MAX || comms_table[index] != MPI_COMM_NULL)
        machine_refuse("the communicator exists");
    return &comms_table[index];
}

/* dup comm new */
static void run_dup(const int64_t *a)
{
    machine_observe_result(MPI_Comm_dup(comms_table[a[0]], comm_new(a[1])));
}

/* ring comm new kind: one in which a rank has two neighbors; a line; one in which it has but a source and a target */
static void run_ring(const int64_t *a)
{
    enum { RING, LINE, CIRCLE };
    int rank;
    int size;
    int is_periodic = a[2] == RING;
    int weight = 1;
    MPI_Comm comm = comms_table[a[0]];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int source = (rank + size - 1) % size;
    int target = (rank + 1) % size;
    if (a[2] == CIRCLE)
        machine_observe_result(MPI_Dist_graph_create_adjacent(comm, 1, &source, &weight, 1, &target, &weight,
                                                              MPI_INFO_NULL, 0, comm_new(a[1])));
    else
        machine_observe_result(MPI_Cart_create(comm, 1, &size, &is_periodic, 0, comm_new(a[1])));
}

/* split comm new colour key */
static void run_split(const int64_t *a)
{
    machine_observe_result(MPI_Comm_split(comms_table[a[0]], (int)a[2], (int)a[3], comm_new(a[1])));
}

/* intercomm local new leader tag: over MPI_COMM_WORLD */
static void run_intercomm(const int64_t *a)
{
    machine_observe_result(
        MPI_Intercomm_create(comms_table[a[0]], 0, MPI_COMM_WORLD, (int)a[2], (int)a[3], comm_new(a[1])));
    MPI_Comm_set_errhandler(comms_table[a[1]], MPI_ERRORS_RETURN);
}

/* commfree comm */
static void run_commfree(const int64_t *a)
{
    machine_observe_result(MPI_Comm_free(&comms_table[a[0]]));
}

const struct instruction type_instructions[] = {
    {"contiguous", run_contiguous},
    {"vector", run_vector},
    {"resized", run_resized},
    {"indexed", run_indexed},
    {"struct", run_struct},
    {"typefree", run_typefree},
    {"pack", run_pack},
    {"unpack", run_unpack},
    {"dup", run_dup},
    {"ring", run_ring},
    {"split", run_split},
    {"intercomm", run_intercomm},
    {"commfree", run_commfree},
    {NULL, NULL},
};
