/* SPDX-License-Identifier: MIT */
/* How the ABI-neutral files (op/requests.h, profile/observe.h) name a request. */
#ifndef MPI_REQUEST_KEY_H
#define MPI_REQUEST_KEY_H

#include <stdint.h>

#include "abi.h"

static inline uint64_t request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request;
}

#endif
