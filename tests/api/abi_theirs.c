/* SPDX-License-Identifier: MIT */
#include <mpi.h>

#include "abi_values.h"

const struct abi_value abi_theirs[] = {ABI_CONSTANTS(ABI_VALUE){NULL, 0}};

void abi_handles_theirs(struct abi_value *values)
{
    struct abi_value theirs[ABI_HANDLE_COUNT] = {
        {"abi_prepare", 1},
        {"comm_world", (long long)MPI_COMM_WORLD},
        {"comm_self", (long long)MPI_COMM_SELF},
        {"comm_null", (long long)MPI_COMM_NULL},
        {"byte", (long long)MPI_BYTE},
        {"packed", (long long)MPI_PACKED},
        {"datatype_null", (long long)MPI_DATATYPE_NULL},
        {"request_null", (long long)MPI_REQUEST_NULL},
        {"message_null", (long long)MPI_MESSAGE_NULL},
        {"message_no_proc", (long long)MPI_MESSAGE_NO_PROC},
        {"errors_are_fatal", (long long)MPI_ERRORS_ARE_FATAL},
        {"no_op", (long long)MPI_NO_OP},
        {"errors_return", (long long)MPI_ERRORS_RETURN},
    };
    for (size_t i = 0; i < ABI_HANDLE_COUNT; i++)
        values[i] = theirs[i];
}
