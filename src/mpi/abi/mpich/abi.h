/* SPDX-License-Identifier: MIT */
/* The ABI that MPICH 3.1 and later share with Intel MPI, MVAPICH and Cray MPI:
 * handles are numbers. Checked against the real mpi.h by tests/api. */
#ifndef MPI_ABI_MPICH_ABI_H
#define MPI_ABI_MPICH_ABI_H

#include <stddef.h>
#include <stdint.h>

/* MPI_Test raises an error on MPI_COMM_WORLD, whatever the communicator of its request (seen with MPICH 4.0 and
 * Intel MPI 2021; MPICH 5.0 takes that of the request). */
enum { ABI_TESTS_RAISE_ON_WORLD = 1 };

/* MPI_Request_get_status raises the error of its request on MPI_COMM_WORLD (seen with MPICH 4.0 and 5.0 and Intel MPI
 * 2021). */
enum { ABI_LOOKS_RAISE_ON_WORLD = 1 };

/* Without statuses MPI_Testall looks at so many requests at a time, and if the last of them are plain sends and
 * receives it takes all for such: of more it fails, or leaves persistent ones active (seen with MPICH 4.0 and 5.0). */
enum { ABI_TESTALL_REQUESTS_MAX = 64 };

/* MPI_Testall and MPI_Testany tell of an error of a persistent request. */
enum { ABI_TESTS_HIDE_ERRORS = 0 };

/* MPI_Ialltoallv and MPI_Ialltoallw in place are right on any number of ranks. */
enum { ABI_EXCHANGE_IN_PLACE_RANKS_MAX = INT32_MAX };

/* MPI_Ibcast between two groups is wrong where the root is not rank 0 of its group: the others exchange as if the rank
 * of that number among them had the data (seen with MPICH 4.0, 5.0 and Intel MPI 2021). */
enum { ABI_BCASTS_BETWEEN_GROUPS = 0 };

/* Its libraries speak PMI with the launcher where their environment says so (job/store.h). */
enum { ABI_SPEAKS_PMI = 1 };

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef struct ADIOI_FileD *MPI_File;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Message;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Session;
typedef int MPI_Win;

typedef struct {
    int count_low;
    int count_high_and_cancelled;
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)

#include "mpi/abi/common.h"

enum {
    MPI_SUCCESS = 0,
    MPI_ERR_COUNT = 2,
    MPI_ERR_TYPE = 3,
    MPI_ERR_ARG = 12,
    MPI_ERR_UNKNOWN = 13,
    MPI_ERR_TRUNCATE = 14,
    MPI_ERR_OTHER = 15,
    MPI_ERR_INTERN = 16,
    MPI_ERR_IN_STATUS = 17,
    MPI_ERR_PENDING = 18,
    MPI_ERR_REQUEST = 19
};
enum { MPI_ANY_SOURCE = -2, MPI_PROC_NULL = -1, MPI_ROOT = -3, MPI_ANY_TAG = -1, MPI_UNDEFINED = -32766 };
enum { MPI_GRAPH = 1, MPI_CART = 2, MPI_DIST_GRAPH = 3 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum {
    MPI_MAX_ERROR_STRING = 512,
    MPI_MAX_PROCESSOR_NAME = 128,
    MPI_MAX_LIBRARY_VERSION_STRING = 8192,
    MPI_MAX_OBJECT_NAME = 128
};
enum {
    MPI_COMBINER_NAMED = 1,
    MPI_COMBINER_DUP = 2,
    MPI_COMBINER_CONTIGUOUS = 3,
    MPI_COMBINER_VECTOR = 4,
    MPI_COMBINER_HVECTOR = 6,
    MPI_COMBINER_INDEXED = 7,
    MPI_COMBINER_INDEXED_BLOCK = 10,
    MPI_COMBINER_SUBARRAY = 13,
    MPI_COMBINER_DARRAY = 14,
    MPI_COMBINER_F90_REAL = 15,
    MPI_COMBINER_F90_COMPLEX = 16,
    MPI_COMBINER_F90_INTEGER = 17,
    MPI_COMBINER_RESIZED = 18
};

#endif
