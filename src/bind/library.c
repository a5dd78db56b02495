/* SPDX-License-Identifier: MIT */
#include "bind/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/object.h"
#include "base/symbol.h"

/* Every MPI library defines it, and the libraries around it (Fortran, C++) do not. */
static const char library_marker[] = "PMPI_Init";

static void *library_open(const char *path)
{
    return dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
}

/* The object that defines the marker, as seen from `scope`. */
static bool library_take(struct library *library, void *scope)
{
    Dl_info definer;
    void *marker = dlsym(scope, library_marker);
    if (marker == NULL || dladdr(marker, &definer) == 0)
        return false;
    snprintf(library->path, sizeof(library->path), "%s", definer.dli_fname);
    library->handle = library_open(library->path);
    library->base = (uintptr_t)definer.dli_fbase;
    return library->handle != NULL;
}

struct path_list {
    char (*paths)[PATH_MAX];
    size_t count;
};

static int path_list_add(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct path_list *list = context;
    if (info->dlpi_name[0] == '\0' || strstr(info->dlpi_name, "mpi") == NULL)
        return 0;
    char(*paths)[PATH_MAX] = realloc(list->paths, (list->count + 1) * sizeof(*paths));
    if (paths == NULL)
        return 1;
    list->paths = paths;
    snprintf(paths[list->count++], PATH_MAX, "%s", info->dlpi_name);
    return 0;
}

/* An interpreter loads MPI for one module only (RTLD_LOCAL): then the global scope
 * lacks it. dlopen() must not be called while the linker iterates, so names first. */
static bool library_search_local(struct library *library)
{
    struct path_list list = {NULL, 0};
    bool is_found = false;
    dl_iterate_phdr(path_list_add, &list);
    for (size_t i = 0; i < list.count && !is_found; i++) {
        void *handle = library_open(list.paths[i]);
        if (handle == NULL)
            continue;
        is_found = library_take(library, handle);
        dlclose(handle);
    }
    free(list.paths);
    return is_found;
}

static const char *library_soname(const struct library *library)
{
    struct link_map *map;
    const char *soname = "";
    const char *strings = NULL;
    size_t offset = 0;
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) != 0)
        return soname;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME)
            offset = entry->d_un.d_val;
    }
    return strings == NULL || offset == 0 ? soname : strings + offset;
}

static bool library_has_abi(const struct library *library, const char *soname, const struct library_abi *abi)
{
    return base_text_begins(soname, abi->soname_begins) && base_text_ends(soname, abi->soname_ends) &&
           (abi->symbol[0] == '\0' || dlsym(library->handle, abi->symbol) != NULL);
}

static const struct library_abi *library_tell_abi(const struct library *library)
{
    const char *soname = library_soname(library);
    for (size_t i = 0; i < library_abis_count; i++)
        if (library_has_abi(library, soname, &library_abis[i]))
            return &library_abis[i];
    return NULL;
}

static int defines_marker(struct dl_phdr_info *info, size_t size_bytes, void *marker)
{
    struct object object;
    return object_read(info, &object) && symbol_find(&object, marker) != NULL;
}

/* Most processes have none, and dlsym() takes long to say so. */
static bool library_is_loaded(void)
{
    struct symbol_name marker = symbol_name_of(library_marker);
    return dl_iterate_phdr(defines_marker, &marker) != 0;
}

bool library_find(struct library *library)
{
    if (!library_is_loaded())
        return false;
    if (!library_take(library, RTLD_DEFAULT) && !library_search_local(library))
        return false;
    library->abi = library_tell_abi(library);
    return true;
}
