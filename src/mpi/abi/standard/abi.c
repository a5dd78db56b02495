/* SPDX-License-Identifier: MIT */
#include "mpi/abi/standard/abi.h"

#include <string.h>

struct abi_handles abi_handles = {
    .comm_world = (MPI_Comm)0x101,
    .comm_self = (MPI_Comm)0x102,
    .comm_null = (MPI_Comm)0x100,
    .byte = (MPI_Datatype)0x247,
    .packed = (MPI_Datatype)0x207,
    .int64 = (MPI_Datatype)0x258,
    .datatype_null = (MPI_Datatype)0x200,
    .request_null = (MPI_Request)0x180,
    .message_null = (MPI_Message)0x128,
    .message_no_proc = (MPI_Message)0x129,
    .no_op = (MPI_Op)0x3d,
    .sum = (MPI_Op)0x21,
    .prod = (MPI_Op)0x24,
    .errors_are_fatal = (MPI_Errhandler)0x141,
    .errors_return = (MPI_Errhandler)0x143,
    .errors_abort = (MPI_Errhandler)0x142,
};

bool abi_prepare(void *library)
{
    return true;
}

bool abi_forbids_tests(void)
{
    return false;
}

/* Messages that cross do not take turns there. */
struct abi_fragments abi_fragments_set(void)
{
    return (struct abi_fragments){.bytes = 0};
}

void abi_fragments_unset(void)
{
}

/* As MPICH does. */
bool abi_packs_gaps(void)
{
    return true;
}

bool abi_ends_deaf(void)
{
    return false;
}

bool abi_survives_ranks(void)
{
    return false;
}

bool abi_may_be_datatype(MPI_Datatype datatype)
{
    /* The lowest page is for predefined handles, and of these 0x200 to 0x2FF are for datatypes (MPI 5.0, A.2). */
    enum { DATATYPES_FIRST = 0x200, DATATYPES_END = 0x300, PREDEFINED_END = 0x1000 };
    uintptr_t value = (uintptr_t)datatype;
    return value >= PREDEFINED_END || (value >= DATATYPES_FIRST && value < DATATYPES_END);
}

bool abi_op_is_predefined(MPI_Op op)
{
    /* MPI 5.0, section 20.4: predefined handles take 10 bits, and no library may use the zero page for others. */
    return (uintptr_t)op < 0x400;
}

/* MPI 5.0, A.2: MPI_AINT to MPI_OFFSET, MPI_SHORT to MPI_UNSIGNED_LONG_LONG, MPI_INTEGER, MPI_INT8_T to MPI_UINT64_T,
 * MPI_INTEGER2 to MPI_INTEGER8. */
bool abi_datatype_is_integer(MPI_Datatype datatype)
{
    static const uint32_t integers[] = {0x201, 0x202, 0x203, 0x208, 0x209, 0x20a, 0x20b, 0x20c, 0x20d,
                                        0x20e, 0x20f, 0x219, 0x240, 0x241, 0x243, 0x244, 0x245, 0x248,
                                        0x249, 0x250, 0x251, 0x258, 0x259, 0x2c9, 0x2d1, 0x2d9};
    return abi_value_is_among((uintptr_t)datatype, integers, sizeof integers / sizeof integers[0]);
}

/* MPI 5.0, A.2: MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8. */
bool abi_datatype_is_real(MPI_Datatype datatype)
{
    static const uint32_t reals[] = {0x210, 0x214, 0x21a, 0x21c, 0x2d2, 0x2da};
    return abi_value_is_among((uintptr_t)datatype, reals, sizeof reals / sizeof reals[0]);
}

int abi_thread_ordinal(int level)
{
    return level / MPI_THREAD_FUNNELED - (level == MPI_THREAD_MULTIPLE);
}

/* MPICH 5.0 keeps the count in the first two internal words and does not write
 * the others in calls such as MPI_Probe. The words are only 4-byte aligned. */
uint64_t abi_status_hidden_get(const MPI_Status *status)
{
    uint64_t value;
    memcpy(&value, status->internal, sizeof(value));
    return value;
}

void abi_status_hidden_set(MPI_Status *status, uint64_t value)
{
    memcpy(status->internal, &value, sizeof(value));
}
