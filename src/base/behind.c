/* SPDX-License-Identifier: MIT */
#include "base/behind.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/object.h"

/* As the object that this code belongs to finds it. */
static void *behind_seen_from(const void *code, const char *name)
{
    Dl_info found;
    void *handle = dladdr(code, &found) == 0 ? NULL : dlopen(found.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL)
        return NULL;
    void *function = dlsym(handle, name);
    dlclose(handle);
    return function;
}

/* The program itself sees us: then what comes after us. */
void *base_behind(const void *caller, const char *name)
{
    void *function = behind_seen_from(caller, name);
    return function == NULL || object_holds_own(function) ? dlsym(RTLD_NEXT, name) : function;
}
