/* SPDX-License-Identifier: MIT */
/* The part of a transfer that has MPI's types, one per slot of transfer.h.
 * Written by the thread that starts the op, then by the one that tests it. */
#ifndef MPI_NATIVE_H
#define MPI_NATIVE_H

#include <stdint.h>

#include "abi.h"
#include "mpi/errors.h"
#include "op/transfer.h"

struct native {
    MPI_Request request;
    struct errors_home home; /* whose handler hears of its errors */
    uint32_t status_number;  /* 0: nobody looks at its status (status.h) */
    size_t reserved_bytes;   /* for copies of touched pages (copies_reserve()), given back at its end */
    void *copy;              /* the bytes that a send reads, when they are ours; freed at its end */
};

extern struct native native_slots[TRANSFERS_MAX];

static inline struct native *native_of(const struct transfer *transfer)
{
    return &native_slots[transfer->slot];
}

#endif
