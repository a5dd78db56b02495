/* SPDX-License-Identifier: MIT */
/* Functions of the MPI library that have no row in mpi/functions.toml: a later release has them, or a vendor. What the
 * program calls them by leads through entries that do as those of class foreign (bind/extension.h). Who reaches one in
 * another way goes past us (bind/bypass.c). */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/text.h"
#include "base/object.h"
#include "bind/names.h"
#include "bind/state.h"

enum { STUB_BYTES = 16 };

/* One entry for each (generated assembly), whose number is that of the function behind those of all rows. */
extern const char stubs_unknown[NAMES_UNKNOWN_COUNT][STUB_BYTES];

/* Owner: the thread that binds; read by all once that is done. The names are the library's own text,
 * which stays: the binding keeps the library open. */
static struct {
    const char *names[NAMES_UNKNOWN_COUNT];
    void *functions[NAMES_UNKNOWN_COUNT]; /* NULL: another object's comes first */
    size_t count;
    bool are_more;
} unknown;

/* MPI_X of PMPI_X: not every library exports both under one file name. */
static const char *public_name(const char *name)
{
    return base_text_begins(name, "PMPI") ? name + 1 : name;
}

/* Constants of the standard that are functions (MPI_TYPE_DUP_FN) have no small letter. */
static bool is_function_name(const char *name)
{
    bool is_mpi = base_text_begins(name, "MPI_") || base_text_begins(name, "MPIX_");
    return is_mpi && strpbrk(name, "abcdefghijklmnopqrstuvwxyz") != NULL;
}

/* Place of a name here; NAMES_UNKNOWN_COUNT when it has none. */
static size_t unknown_index(const char *name)
{
    for (size_t i = 0; i < unknown.count; i++)
        if (strcmp(unknown.names[i], name) == 0)
            return i;
    return NAMES_UNKNOWN_COUNT;
}

static bool is_collected(const char *name)
{
    return unknown_index(name) != NAMES_UNKNOWN_COUNT;
}

static bool collect_name(const char *exported, void *context)
{
    const char *name = public_name(exported);
    if (!is_function_name(name) || bind_is_listed(name) || is_collected(name))
        return false;
    unknown.are_more = unknown.count == NAMES_UNKNOWN_COUNT;
    if (!unknown.are_more)
        unknown.names[unknown.count++] = name;
    return unknown.are_more;
}

static int collect_of_library(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    const struct library *library = context;
    struct object object;
    if (strcmp(info->dlpi_name, library->path) != 0 || !object_read(info, &object))
        return 0;
    object_find_defined(&object, collect_name, NULL);
    return 1;
}

/* NULL where the program's calls may reach another object's function of that name, a tool's, say. */
static void *function_of(const struct library *library, const char *name)
{
    void *own = dlsym(library->handle, name);
    void *first = dlsym(RTLD_DEFAULT, name); /* nothing, where the library is loaded for one module only */
    return first == own || first == NULL ? own : NULL;
}

void bind_unknown_collect(const struct library *library)
{
    dl_iterate_phdr(collect_of_library, (void *)library);
    for (size_t i = 0; i < unknown.count; i++)
        unknown.functions[i] = function_of(library, unknown.names[i]);
}

bool bind_unknown_lacks_entry(const char *name)
{
    size_t index = unknown_index(name);
    if (index != NAMES_UNKNOWN_COUNT)
        return unknown.functions[index] == NULL;
    return unknown.are_more && is_function_name(name) && !bind_is_listed(name);
}

void *bind_unknown_next(size_t index)
{
    return unknown.functions[index];
}

const void *bind_unknown_entry(const char *name)
{
    size_t index = unknown_index(name);
    bool has_entry = index != NAMES_UNKNOWN_COUNT && unknown.functions[index] != NULL;
    return has_entry ? stubs_unknown[index] : NULL;
}

bool bind_unknown_is_behind(const char *name, const void *function)
{
    size_t index = unknown_index(name);
    return index != NAMES_UNKNOWN_COUNT && function != NULL && function == unknown.functions[index];
}

/* The place holds the library's function, or, before the first call, a jump of its own object's. */
static bool leads_to_library(const struct object *object, const struct object_reference *reference)
{
    return object_is_unresolved(object, reference) ||
           bind_unknown_is_behind(reference->name, (const void *)*reference->place);
}

static void redirect_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    if (leads_to_library(object, reference))
        object_write(object, reference->place, (uintptr_t)bind_unknown_entry(reference->name));
}

static bool is_entered(const char *name, void *context)
{
    /* The first letter first: see is_absent_name(). */
    return name[0] == 'M' && bind_unknown_entry(name) != NULL;
}

void bind_unknown_redirect(const struct object *object)
{
    if (unknown.count != 0)
        object_visit_references(object, is_entered, redirect_reference, NULL);
}
