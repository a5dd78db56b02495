/* SPDX-License-Identifier: MIT */
/* The ABI of the MPI 5.0 standard, chapter 20: handles are pointers, the
 * predefined ones small constants. Checked against the real mpi.h by tests/api. */
#ifndef MPI_ABI_STANDARD_ABI_H
#define MPI_ABI_STANDARD_ABI_H

#include <stddef.h>

/* MPI_Test raises an error on the communicator of its request (seen with MPICH 5.0). */
enum { ABI_TESTS_RAISE_ON_WORLD = 0 };

/* But MPI_Request_get_status raises the error of its request on MPI_COMM_WORLD (seen with MPICH 5.0). */
enum { ABI_LOOKS_RAISE_ON_WORLD = 1 };

/* Without statuses MPI_Testall looks at so many requests at a time, and if the last of them are plain sends and
 * receives it takes all for such: of more it fails, or leaves persistent ones active (seen with MPICH 4.0 and 5.0). */
enum { ABI_TESTALL_REQUESTS_MAX = 64 };

/* As with any of the libraries: Open MPI's MPI_Testall and MPI_Testany may hide an error of a persistent request. */
enum { ABI_TESTS_HIDE_ERRORS = 1 };

/* As many as with any of the libraries: on more, Open MPI's MPI_Ialltoallv in place mixes blocks up. */
enum { ABI_EXCHANGE_IN_PLACE_RANKS_MAX = 3 };

/* As with any of the libraries: MPICH's MPI_Ibcast between two groups is wrong. */
enum { ABI_BCASTS_BETWEEN_GROUPS = 0 };

/* MPICH is of this ABI, and speaks PMI with the launcher where its environment says so (job/store.h). */
enum { ABI_SPEAKS_PMI = 1 };

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int internal[5];
} MPI_Status;

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

#include "mpi/abi/common.h"

enum {
    MPI_SUCCESS = 0,
    MPI_ERR_COUNT = 2,
    MPI_ERR_TYPE = 3,
    MPI_ERR_REQUEST = 7,
    MPI_ERR_ARG = 13,
    MPI_ERR_UNKNOWN = 14,
    MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16,
    MPI_ERR_INTERN = 17,
    MPI_ERR_PENDING = 18,
    MPI_ERR_IN_STATUS = 19
};
enum { MPI_ANY_SOURCE = -1, MPI_PROC_NULL = -3, MPI_ROOT = -4, MPI_ANY_TAG = -2, MPI_UNDEFINED = -32766 };
enum { MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213 };
enum { MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1024, MPI_THREAD_SERIALIZED = 2048, MPI_THREAD_MULTIPLE = 4096 };
enum {
    MPI_MAX_ERROR_STRING = 512,
    MPI_MAX_PROCESSOR_NAME = 256,
    MPI_MAX_LIBRARY_VERSION_STRING = 8192,
    MPI_MAX_OBJECT_NAME = 128
};
enum {
    MPI_COMBINER_NAMED = 101,
    MPI_COMBINER_DUP = 102,
    MPI_COMBINER_CONTIGUOUS = 103,
    MPI_COMBINER_VECTOR = 104,
    MPI_COMBINER_HVECTOR = 105,
    MPI_COMBINER_INDEXED = 106,
    MPI_COMBINER_INDEXED_BLOCK = 108,
    MPI_COMBINER_SUBARRAY = 111,
    MPI_COMBINER_DARRAY = 112,
    MPI_COMBINER_F90_REAL = 113,
    MPI_COMBINER_F90_COMPLEX = 114,
    MPI_COMBINER_F90_INTEGER = 115,
    MPI_COMBINER_RESIZED = 116
};

#endif
