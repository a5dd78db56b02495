/* SPDX-License-Identifier: MIT */
#include "base/libraries.h"

#include <string.h>

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

/* Verbs' providers that have an interface of their own (rdma-core); libibverbs opens all of them under names of their
 * own (libmlx5-rdmav34.so). libfabric's, where they are files of their own (libverbs-fi.so). */
bool base_library_is_provider(const char *file_name)
{
    static const char *const names[] = {"libmlx4.", "libmlx5.", "libefa.", "libmana.", "libhns.", "librdmacm."};
    return base_text_begins_any(file_name, names, COUNT(names)) || strstr(file_name, "-rdmav") != NULL ||
           strstr(file_name, "-fi.so") != NULL;
}

bool base_library_is_of_mpi(const char *file_name)
{
    static const char *const beside[] = {"libpmi", "libprrte", "libibverbs", "libhcoll", "libsharp"};
    return base_library_is_transport(file_name) || base_library_is_provider(file_name) ||
           base_text_begins_any(file_name, beside, COUNT(beside));
}
