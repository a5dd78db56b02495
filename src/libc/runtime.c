/* SPDX-License-Identifier: MIT */
#include "libc/runtime.h"

#include <dlfcn.h>

#include "base/libraries.h"
#include "base/text.h"

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

static bool name_never_calls(const char *name)
{
    static const char *const beginnings[] = {"libopenblas", "libscipy_openblas"};
    return base_library_is_transport(name) ||
           base_text_begins_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings));
}

bool libc_runtime_never_calls(uintptr_t code)
{
    return name_never_calls(file_of(code));
}

/* GNU's, LLVM's and Intel's. */
bool libc_runtime_is_team(uintptr_t code)
{
    static const char *const beginnings[] = {"libgomp", "libomp", "libiomp"};
    const char *name = file_of(code);
    return name_never_calls(name) || base_text_begins_any(name, beginnings, sizeof(beginnings) / sizeof(*beginnings));
}

bool libc_runtime_is_transport(uintptr_t code)
{
    return base_library_is_transport(file_of(code));
}

bool libc_runtime_is_of_mpi(uintptr_t code)
{
    return base_library_is_of_mpi(file_of(code));
}

bool libc_runtime_is_any(uintptr_t code)
{
    const char *name = file_of(code);
    return base_library_is_transport(name) || name_is_language(name);
}
