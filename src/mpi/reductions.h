/* SPDX-License-Identifier: MIT */
/* What a reduction gives when its operands come in another order, or in another thread. */
#ifndef MPI_REDUCTIONS_H
#define MPI_REDUCTIONS_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/datatypes.h"

/* One of MPI's own. A function of the program's may do anything. */
static inline bool reductions_are_known(MPI_Op op)
{
    return abi_op_is_predefined(op) && op != abi_handles.no_op;
}

/* Open MPI 4.1 adds these by vector instructions that stop at the largest number, and what a vector leaves over by ones
 * that wrap (ompi/mca/op/avx): where it cuts decides about bits. */
static inline bool reductions_may_saturate(MPI_Op op, MPI_Datatype datatype)
{
    return op == abi_handles.sum && abi_datatype_is_integer(datatype) && datatype_layout(datatype)->size_bytes <= 2;
}

/* The same bits whatever the order: of sums of floating-point numbers only with two ranks, since a + b is b + a (IEEE
 * 754). Products of complex numbers may be contracted, and then are not. */
static inline bool reductions_keep_bits(MPI_Op op, MPI_Datatype datatype, int ranks)
{
    bool may_depend = (op == abi_handles.sum || op == abi_handles.prod) && !abi_datatype_is_integer(datatype);
    if (reductions_may_saturate(op, datatype))
        return false;
    return !may_depend || (ranks == 2 && op == abi_handles.sum);
}

#endif
