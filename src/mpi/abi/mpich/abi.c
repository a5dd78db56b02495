/* SPDX-License-Identifier: MIT */
#include "mpi/abi/mpich/abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct abi_handles abi_handles = {
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .byte = 0x4c00010d,
    .packed = 0x4c00010f,
    .int64 = 0x4c00083a,
    .datatype_null = 0x0c000000,
    .request_null = 0x2c000000,
    .message_null = 0x2c000000,
    .message_no_proc = 0x6c000000,
    .no_op = 0x5800000e,
    .sum = 0x58000003,
    .prod = 0x58000004,
    .errors_are_fatal = 0x54000000,
    .errors_return = 0x54000001,
    .errors_abort = 0x54000003,
};

bool abi_prepare(void *library)
{
    return true;
}

/* A setting of MPICH's is one of three variables, and on unless it says no (src/util/cvar). */
static bool is_set(const char *const names[], size_t count)
{
    static const char *const refusals[] = {"0", "n", "f", "off", "d", "N", "F", "OFF", "D"};
    const char *text = NULL;
    for (size_t i = 0; i < count && text == NULL; i++)
        text = getenv(names[i]);
    return text != NULL && *text != 0 && !base_text_begins_any(text, refusals, sizeof refusals / sizeof refusals[0]);
}

/* MPICH 4.0, with its fault tolerance on: "Assertion failed in file ./src/mpid/ch4/src/ch4_request.h". */
bool abi_forbids_tests(void)
{
    static const char *const names[] = {"MPIR_CVAR_ENABLE_FT", "MPIR_PARAM_ENABLE_FT", "MPICH_ENABLE_FT"};
    return is_set(names, sizeof names / sizeof names[0]);
}

/* Messages that cross do not take turns there. */
struct abi_fragments abi_fragments_set(void)
{
    return (struct abi_fragments){.bytes = 0};
}

void abi_fragments_unset(void)
{
}

bool abi_packs_gaps(void)
{
    return true;
}

/* UCX is a library beside MPICH's; over libfabric nobody is asked. */
bool abi_ends_deaf(void)
{
    void *ucx = dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY);
    if (ucx != NULL)
        dlclose(ucx);
    return ucx != NULL;
}

/* Where it may, every call is passed. */
bool abi_survives_ranks(void)
{
    return false;
}

bool abi_may_be_datatype(MPI_Datatype datatype)
{
    /* The two highest bits tell the kind of a handle, 00 is invalid; the next four what it is a handle of. */
    enum { OF_DATATYPE = 3 };
    return (uint32_t)datatype >> 30 != 0 && ((uint32_t)datatype >> 26 & 0xF) == OF_DATATYPE;
}

bool abi_op_is_predefined(MPI_Op op)
{
    /* The two highest bits tell the kind of a handle: 01 is built in. */
    return (uint32_t)op >> 30 == 1;
}

/* From MPI_CHAR to MPI_COUNT in the order of mpi.h, MPI_INTEGER2 to MPI_INTEGER8. */
bool abi_datatype_is_integer(MPI_Datatype datatype)
{
    static const uint32_t integers[] = {
        0x4c000101, 0x4c000118, 0x4c000102, 0x4c000203, 0x4c000204, 0x4c000405, 0x4c000406, 0x4c000807, 0x4c000808,
        0x4c000809, 0x4c000819, 0x4c00041b, 0x4c000137, 0x4c000238, 0x4c000439, 0x4c00083a, 0x4c00013b, 0x4c00023c,
        0x4c00043d, 0x4c00083e, 0x4c000843, 0x4c000844, 0x4c000845, 0x4c00022f, 0x4c000430, 0x4c000831};
    return abi_value_is_among((uint32_t)datatype, integers, sizeof integers / sizeof integers[0]);
}

/* MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8. */
bool abi_datatype_is_real(MPI_Datatype datatype)
{
    static const uint32_t reals[] = {0x4c00040a, 0x4c00080b, 0x4c00041c, 0x4c00081f, 0x4c000427, 0x4c000829};
    return abi_value_is_among((uint32_t)datatype, reals, sizeof reals / sizeof reals[0]);
}

int abi_thread_ordinal(int level)
{
    return level;
}

/* The two words are next to each other, but only 4-byte aligned. */
uint64_t abi_status_hidden_get(const MPI_Status *status)
{
    uint64_t value;
    memcpy(&value, &status->count_low, sizeof(value));
    return value;
}

void abi_status_hidden_set(MPI_Status *status, uint64_t value)
{
    memcpy(&status->count_low, &value, sizeof(value));
}
