/* SPDX-License-Identifier: MIT */
/* Libraries that carry messages, told by the names of their files. Take no lock. */
#ifndef BASE_LIBRARIES_H
#define BASE_LIBRARIES_H

#include <stdbool.h>

/* Is this the file name of a library of an MPI installation? */
bool base_library_is_mpi(const char *file_name);

/* Of one of those, or of a library below MPI (UCX, libfabric, PSM)? */
bool base_library_is_transport(const char *file_name);

/* Of a library below those: a provider of verbs or of libfabric, or the connection manager? They are there without an
 * RDMA device, too. */
bool base_library_is_provider(const char *file_name);

/* Of any of these, or of what MPI has beside them: process managers, collectives of switches? */
bool base_library_is_of_mpi(const char *file_name);

#endif
