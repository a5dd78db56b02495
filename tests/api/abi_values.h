/* SPDX-License-Identifier: MIT */
/* What src/mpi/abi says of an ABI, as numbers: included by a file that knows
 * our abi.h and by one that knows the library's mpi.h. */
#ifndef TESTS_API_ABI_VALUES_H
#define TESTS_API_ABI_VALUES_H

#include <stddef.h>

struct abi_value {
    const char *name;
    long long value;
};

#define ABI_CONSTANTS(VALUE)                \
    VALUE(sizeof(MPI_Comm))                 \
    VALUE(sizeof(MPI_Datatype))             \
    VALUE(sizeof(MPI_Errhandler))           \
    VALUE(sizeof(MPI_File))                 \
    VALUE(sizeof(MPI_Group))                \
    VALUE(sizeof(MPI_Info))                 \
    VALUE(sizeof(MPI_Message))              \
    VALUE(sizeof(MPI_Op))                   \
    VALUE(sizeof(MPI_Request))              \
    VALUE(sizeof(MPI_Win))                  \
    VALUE(sizeof(MPI_Aint))                 \
    VALUE(sizeof(MPI_Count))                \
    VALUE(sizeof(MPI_Offset))               \
    VALUE(sizeof(MPI_Status))               \
    VALUE(offsetof(MPI_Status, MPI_SOURCE)) \
    VALUE(offsetof(MPI_Status, MPI_TAG))    \
    VALUE(offsetof(MPI_Status, MPI_ERROR))  \
    VALUE(MPI_SUCCESS)                      \
    VALUE(MPI_ERR_ARG)                      \
    VALUE(MPI_ERR_COUNT)                    \
    VALUE(MPI_ERR_INTERN)                   \
    VALUE(MPI_ERR_IN_STATUS)                \
    VALUE(MPI_ERR_OTHER)                    \
    VALUE(MPI_ERR_PENDING)                  \
    VALUE(MPI_ERR_REQUEST)                  \
    VALUE(MPI_ERR_TRUNCATE)                 \
    VALUE(MPI_ERR_TYPE)                     \
    VALUE(MPI_ERR_UNKNOWN)                  \
    VALUE(MPI_ANY_SOURCE)                   \
    VALUE(MPI_ANY_TAG)                      \
    VALUE(MPI_PROC_NULL)                    \
    VALUE(MPI_ROOT)                         \
    VALUE(MPI_UNDEFINED)                    \
    VALUE(MPI_CART)                         \
    VALUE(MPI_GRAPH)                        \
    VALUE(MPI_DIST_GRAPH)                   \
    VALUE(MPI_THREAD_SINGLE)                \
    VALUE(MPI_THREAD_FUNNELED)              \
    VALUE(MPI_THREAD_SERIALIZED)            \
    VALUE(MPI_THREAD_MULTIPLE)              \
    VALUE(MPI_MAX_ERROR_STRING)             \
    VALUE(MPI_MAX_PROCESSOR_NAME)           \
    VALUE(MPI_MAX_LIBRARY_VERSION_STRING)   \
    VALUE(MPI_MAX_OBJECT_NAME)              \
    VALUE(MPI_COMBINER_NAMED)               \
    VALUE(MPI_COMBINER_DUP)                 \
    VALUE(MPI_COMBINER_CONTIGUOUS)          \
    VALUE(MPI_COMBINER_VECTOR)              \
    VALUE(MPI_COMBINER_HVECTOR)             \
    VALUE(MPI_COMBINER_INDEXED)             \
    VALUE(MPI_COMBINER_INDEXED_BLOCK)       \
    VALUE(MPI_COMBINER_SUBARRAY)            \
    VALUE(MPI_COMBINER_DARRAY)              \
    VALUE(MPI_COMBINER_F90_REAL)            \
    VALUE(MPI_COMBINER_F90_COMPLEX)         \
    VALUE(MPI_COMBINER_F90_INTEGER)         \
    VALUE(MPI_COMBINER_RESIZED)             \
    VALUE(MPI_BOTTOM)                       \
    VALUE(MPI_IN_PLACE)                     \
    VALUE(MPI_STATUS_IGNORE)                \
    VALUE(MPI_STATUSES_IGNORE)

#define ABI_VALUE(expression) {#expression, (long long)(expression)},

/* The same handles in the same order in both files; terminated by a NULL name. */
extern const struct abi_value abi_ours[];
extern const struct abi_value abi_theirs[];
void abi_handles_ours(struct abi_value *values);
void abi_handles_theirs(struct abi_value *values);
enum { ABI_HANDLE_COUNT = 13 };

#endif
