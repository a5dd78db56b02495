/* SPDX-License-Identifier: MIT */
#include "intercept/libc/runtime.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/text.h"
#include "intercept/bind/bind.h"

static bool begins_with_any(const char *name, const char *const beginnings[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (base_text_begins(name, beginnings[i]))
            return true;
    return false;
}

static bool name_is_transport(const char *name)
{
    static const char *const beginnings[] = {"libucs", "libucm", "libuct", "libucp", "libucc", "libfabric", "libpsm"};
    return begins_with_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings)) ||
           intercept_bind_is_of_mpi(name);
}

static bool name_is_language(const char *name)
{
    static const char *const beginnings[] = {"libgfortran", "libpython", "python"};
    return begins_with_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings));
}

bool libc_runtime_is_transport(uintptr_t code)
{
    Dl_info found;
    return dladdr((void *)code, &found) != 0 && name_is_transport(base_text_file_name(found.dli_fname));
}

bool libc_runtime_is_any(uintptr_t code)
{
    Dl_info found;
    if (dladdr((void *)code, &found) == 0)
        return false;
    const char *name = base_text_file_name(found.dli_fname);
    return name_is_transport(name) || name_is_language(name);
}
