/* SPDX-License-Identifier: MIT */
#include "mpi/abi/mpich/abi.h"

#include <string.h>

struct abi_handles abi_handles = {
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .byte = 0x4c00010d,
    .packed = 0x4c00010f,
    .datatype_null = 0x0c000000,
    .request_null = 0x2c000000,
    .message_null = 0x2c000000,
    .message_no_proc = 0x6c000000,
    .no_op = 0x5800000e,
    .errhandler_null = 0x14000000,
    .errors_are_fatal = 0x54000000,
    .errors_return = 0x54000001,
    .errors_abort = 0x54000003,
};

bool abi_prepare(void *library)
{
    return true;
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
