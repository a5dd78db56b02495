/* SPDX-License-Identifier: MIT */
/* The ABI of Open MPI 4.x and 5.x: handles are pointers to library objects, the
 * predefined ones addresses of exported symbols. Checked against the real mpi.h
 * by tests/api. */
#ifndef MPI_ABI_OPENMPI_ABI_H
#define MPI_ABI_OPENMPI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* MPI_Test raises an error on the communicator of its request (seen with 4.1 and 5.0). */
enum { ABI_TESTS_RAISE_ON_WORLD = 0 };

/* Nor does MPI_Request_get_status raise anything there. */
enum { ABI_LOOKS_RAISE_ON_WORLD = 0 };

/* MPI_Testall is right for any number of requests. */
enum { ABI_TESTALL_REQUESTS_MAX = INT32_MAX };

/* MPI_Testall and MPI_Testany say nothing of an error of a persistent request, and MPI_Waitall and MPI_Waitany do (seen
 * with 4.1; in 5.0 it is the other way round for MPI_Testall and MPI_Waitall). MPI_Request_get_status never fails, and
 * leaves all as it is. */
enum { ABI_TESTS_HIDE_ERRORS = 1 };

/* MPI_Ialltoallv and MPI_Ialltoallw in place mix blocks up on more ranks (seen with 4.1). */
enum { ABI_EXCHANGE_IN_PLACE_RANKS_MAX = 3 };

/* MPI_Ibcast between two groups is right. */
enum { ABI_BCASTS_BETWEEN_GROUPS = 1 };

/* Open MPI speaks PMIx alone with the launcher (job/store.h). */
enum { ABI_SPEAKS_PMI = 0 };

typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_file_t *MPI_File;
typedef struct ompi_group_t *MPI_Group;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_message_t *MPI_Message;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_instance_t *MPI_Session;
typedef struct ompi_win_t *MPI_Win;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int is_cancelled;
    size_t count_bytes;
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
    MPI_ERR_IN_STATUS = 18,
    MPI_ERR_PENDING = 19
};
enum { MPI_ANY_SOURCE = -1, MPI_PROC_NULL = -2, MPI_ROOT = -4, MPI_ANY_TAG = -1, MPI_UNDEFINED = -32766 };
enum { MPI_CART = 1, MPI_GRAPH = 2, MPI_DIST_GRAPH = 3 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum {
    MPI_MAX_ERROR_STRING = 256,
    MPI_MAX_PROCESSOR_NAME = 256,
    MPI_MAX_LIBRARY_VERSION_STRING = 256,
    MPI_MAX_OBJECT_NAME = 64
};
enum {
    MPI_COMBINER_NAMED = 0,
    MPI_COMBINER_DUP = 1,
    MPI_COMBINER_CONTIGUOUS = 2,
    MPI_COMBINER_VECTOR = 3,
    MPI_COMBINER_HVECTOR = 5,
    MPI_COMBINER_INDEXED = 6,
    MPI_COMBINER_INDEXED_BLOCK = 9,
    MPI_COMBINER_SUBARRAY = 12,
    MPI_COMBINER_DARRAY = 13,
    MPI_COMBINER_F90_REAL = 14,
    MPI_COMBINER_F90_COMPLEX = 15,
    MPI_COMBINER_F90_INTEGER = 16,
    MPI_COMBINER_RESIZED = 17
};

#endif
