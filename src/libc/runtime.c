/* SPDX-License-Identifier: MIT */
#include "libc/runtime.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/text.h"
#include "bind/bind.h"

bool libc_runtime_is_transport_file(const char *name)
{
    static const char *const beginnings[] = {"libucs", "libucm", "libuct", "libucp", "libucc", "libfabric", "libpsm"};
    return base_text_begins_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings)) || bind_is_of_mpi(name);
}

static bool name_is_language(const char *name)
{
    static const char *const beginnings[] = {"libgfortran", "libpython", "python"};
    return base_text_begins_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings));
}

/* "" where no file's code is. */
static const char *file_of(uintptr_t code)
{
    Dl_info found;
    return dladdr((void *)code, &found) == 0 ? "" : base_text_file_name(found.dli_fname);
}

bool libc_runtime_is_transport(uintptr_t code)
{
    return libc_runtime_is_transport_file(file_of(code));
}

bool libc_runtime_is_any(uintptr_t code)
{
    const char *name = file_of(code);
    return libc_runtime_is_transport_file(name) || name_is_language(name);
}
