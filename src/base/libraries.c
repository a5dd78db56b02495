/* SPDX-License-Identifier: MIT */
#include "base/libraries.h"

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Beginnings, since versions follow. */
static const char *const installation[] = {"libmpi.",  "libmpi_",    "libmpich",     "libmpifort", "libmpicxx",
                                           "libmpi++", "libmca_",    "mca_",         "libopen-",   "liboshmem",
                                           "libpmpi.", "libmpi_abi", "libmpicxx_abi"};
static const char *const below[] = {"libucs", "libucm", "libuct", "libucp", "libucc", "libfabric", "libpsm"};

bool base_library_is_mpi(const char *file_name)
{
    return base_text_begins_any(file_name, installation, COUNT(installation));
}

bool base_library_is_transport(const char *file_name)
{
    return base_text_begins_any(file_name, below, COUNT(below)) || base_library_is_mpi(file_name);
}
