/* SPDX-License-Identifier: MIT */
#include "mpi/abi/openmpi/abi.h"

#include <dlfcn.h>

struct abi_handles abi_handles;

/* The program's own copy first: a predefined handle is the address of an object
 * that a copy relocation may have moved into the program, and then MPI uses that
 * one too. Where MPI was loaded privately (mpi4py) only the library has it. */
static void *abi_symbol(void *library, const char *name)
{
    void *shared = dlsym(RTLD_DEFAULT, name);
    return shared != NULL ? shared : dlsym(library, name);
}

static const char *const op_symbols[] = {
    "ompi_mpi_op_max",    "ompi_mpi_op_min",    "ompi_mpi_op_sum",     "ompi_mpi_op_prod", "ompi_mpi_op_land",
    "ompi_mpi_op_band",   "ompi_mpi_op_lor",    "ompi_mpi_op_bor",     "ompi_mpi_op_lxor", "ompi_mpi_op_bxor",
    "ompi_mpi_op_maxloc", "ompi_mpi_op_minloc", "ompi_mpi_op_replace", "ompi_mpi_op_no_op"};
enum { OP_COUNT = sizeof(op_symbols) / sizeof(op_symbols[0]) };

static const char *const integer_symbols[] = {"ompi_mpi_char",
                                              "ompi_mpi_signed_char",
                                              "ompi_mpi_unsigned_char",
                                              "ompi_mpi_short",
                                              "ompi_mpi_int",
                                              "ompi_mpi_unsigned",
                                              "ompi_mpi_unsigned_short",
                                              "ompi_mpi_long",
                                              "ompi_mpi_unsigned_long",
                                              "ompi_mpi_long_long_int",
                                              "ompi_mpi_unsigned_long_long",
                                              "ompi_mpi_integer",
                                              "ompi_mpi_integer2",
                                              "ompi_mpi_integer4",
                                              "ompi_mpi_integer8",
                                              "ompi_mpi_int8_t",
                                              "ompi_mpi_int16_t",
                                              "ompi_mpi_int32_t",
                                              "ompi_mpi_int64_t",
                                              "ompi_mpi_uint8_t",
                                              "ompi_mpi_uint16_t",
                                              "ompi_mpi_uint32_t",
                                              "ompi_mpi_uint64_t",
                                              "ompi_mpi_aint",
                                              "ompi_mpi_offset",
                                              "ompi_mpi_count"};
enum { INTEGER_COUNT = sizeof(integer_symbols) / sizeof(integer_symbols[0]) };

static const char *const real_symbols[] = {"ompi_mpi_float",   "ompi_mpi_double", "ompi_mpi_real",
                                           "ompi_mpi_dblprec", "ompi_mpi_real4",  "ompi_mpi_real8"};
enum { REAL_COUNT = sizeof(real_symbols) / sizeof(real_symbols[0]) };

/* Owner: abi_prepare(), once. */
static struct {
    void *ops[OP_COUNT];
    void *integers[INTEGER_COUNT];
    void *reals[REAL_COUNT];
    const bool *has_fault_tolerance; /* NULL: this library has none */
} predefined;

static void fill(void *library, const char *const *symbols, size_t count, void **handles)
{
    for (size_t i = 0; i < count; i++)
        handles[i] = abi_symbol(library, symbols[i]);
}

/* A symbol that the library lacks is NULL, and no handle. */
static bool is_among(const void *handle, void *const *handles, size_t count)
{
    for (size_t i = 0; handle != NULL && i < count; i++)
        if (handle == handles[i])
            return true;
    return false;
}

bool abi_prepare(void *library)
{
    abi_handles.comm_world = abi_symbol(library, "ompi_mpi_comm_world");
    abi_handles.comm_self = abi_symbol(library, "ompi_mpi_comm_self");
    abi_handles.comm_null = abi_symbol(library, "ompi_mpi_comm_null");
    abi_handles.byte = abi_symbol(library, "ompi_mpi_byte");
    abi_handles.packed = abi_symbol(library, "ompi_mpi_packed");
    abi_handles.datatype_null = abi_symbol(library, "ompi_mpi_datatype_null");
    abi_handles.request_null = abi_symbol(library, "ompi_request_null");
    abi_handles.message_null = abi_symbol(library, "ompi_message_null");
    abi_handles.message_no_proc = abi_symbol(library, "ompi_message_no_proc");
    abi_handles.no_op = abi_symbol(library, "ompi_mpi_op_no_op");
    abi_handles.sum = abi_symbol(library, "ompi_mpi_op_sum");
    abi_handles.prod = abi_symbol(library, "ompi_mpi_op_prod");
    abi_handles.int64 = abi_symbol(library, "ompi_mpi_int64_t");
    abi_handles.errors_are_fatal = abi_symbol(library, "ompi_mpi_errors_are_fatal");
    abi_handles.errors_return = abi_symbol(library, "ompi_mpi_errors_return");
    /* MPI 4.0 added it; Open MPI 4.1 lacks it. */
    abi_handles.errors_abort = abi_symbol(library, "ompi_mpi_errors_abort");
    fill(library, op_symbols, OP_COUNT, predefined.ops);
    fill(library, integer_symbols, INTEGER_COUNT, predefined.integers);
    fill(library, real_symbols, REAL_COUNT, predefined.reals);
    predefined.has_fault_tolerance = abi_symbol(library, "ompi_ftmpi_enabled");
    return abi_handles.comm_world && abi_handles.byte && abi_handles.request_null && abi_handles.errors_return;
}

bool abi_forbids_tests(void)
{
    return false;
}

bool abi_packs_gaps(void)
{
    return false;
}

bool abi_ends_deaf(void)
{
    return false;
}

bool abi_survives_ranks(void)
{
    return predefined.has_fault_tolerance != NULL && *predefined.has_fault_tolerance;
}

bool abi_may_be_datatype(MPI_Datatype datatype)
{
    return datatype != NULL;
}

bool abi_op_is_predefined(MPI_Op op)
{
    return is_among(op, predefined.ops, OP_COUNT);
}

bool abi_datatype_is_integer(MPI_Datatype datatype)
{
    return is_among(datatype, predefined.integers, INTEGER_COUNT);
}

bool abi_datatype_is_real(MPI_Datatype datatype)
{
    return is_among(datatype, predefined.reals, REAL_COUNT);
}

int abi_thread_ordinal(int level)
{
    return level;
}

uint64_t abi_status_hidden_get(const MPI_Status *status)
{
    return status->count_bytes;
}

void abi_status_hidden_set(MPI_Status *status, uint64_t value)
{
    status->count_bytes = value;
    status->is_cancelled = 0; /* operations on files leave it alone */
}
