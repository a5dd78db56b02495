/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "bind/bind.h"

bool bind_is_of_mpi(const char *path)
{
    return base_text_begins(path, "libmpi");
}
