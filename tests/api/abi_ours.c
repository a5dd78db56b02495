/* SPDX-License-Identifier: MIT */
#include "abi.h"

#include <dlfcn.h>

#include "abi_values.h"

const struct abi_value abi_ours[] = {ABI_CONSTANTS(ABI_VALUE){NULL, 0}};

void abi_handles_ours(struct abi_value *values)
{
    bool is_prepared = abi_prepare(RTLD_DEFAULT);
    struct abi_value ours[ABI_HANDLE_COUNT] = {
        {"abi_prepare", is_prepared},
        {"comm_world", (long long)abi_handles.comm_world},
        {"comm_self", (long long)abi_handles.comm_self},
        {"comm_null", (long long)abi_handles.comm_null},
        {"byte", (long long)abi_handles.byte},
        {"packed", (long long)abi_handles.packed},
        {"datatype_null", (long long)abi_handles.datatype_null},
        {"request_null", (long long)abi_handles.request_null},
        {"message_null", (long long)abi_handles.message_null},
        {"message_no_proc", (long long)abi_handles.message_no_proc},
        {"errors_are_fatal", (long long)abi_handles.errors_are_fatal},
        {"no_op", (long long)abi_handles.no_op},
        {"errors_return", (long long)abi_handles.errors_return},
    };
    for (size_t i = 0; i < ABI_HANDLE_COUNT; i++)
        values[i] = ours[i];
}
