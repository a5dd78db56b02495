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

bool libc_runtime_is_mathematics(uintptr_t code)
{
    static const char *const beginnings[] = {"libopenblas", "libscipy_openblas"};
    return base_text_begins_any(file_of(code), beginnings, sizeof(beginnings) / sizeof(*beginnings));
}

bool libc_runtime_is_transport(uintptr_t code)
{
    return base_library_is_transport(file_of(code));
}

bool libc_runtime_is_any(uintptr_t code)
{
    const char *name = file_of(code);
    return base_library_is_transport(name) || name_is_language(name);
}
