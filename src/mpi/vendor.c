/* SPDX-License-Identifier: MIT */
#include "mpi/vendor.h"

#include "base/text.h"
#include "mpi/real.h"

bool vendor_is_intel(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    return base_text_begins(version, "Intel");
}
