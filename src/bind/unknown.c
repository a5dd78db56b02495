/* SPDX-License-Identifier: MIT */
/* Functions of the MPI library that have no row in mpi/functions.toml: a later release
 * has them, or a vendor. They have no entry, so who calls one reaches MPI past us. */
#include <link.h>
#include <string.h>

#include "base/text.h"
#include "base/object.h"
#include "bind/state.h"

enum { NAMES_MAX = 256 };

/* Owner: the thread that binds; read by all once that is done. The names are the library's own text,
 * which stays: the binding keeps the library open. */
static struct {
    const char *names[NAMES_MAX];
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

static bool is_collected(const char *name)
{
    for (size_t i = 0; i < unknown.count; i++)
        if (strcmp(unknown.names[i], name) == 0)
            return true;
    return false;
}

static bool collect_name(const char *exported, void *context)
{
    const char *name = public_name(exported);
    if (!is_function_name(name) || bind_is_listed(name) || is_collected(name))
        return false;
    unknown.are_more = unknown.count == NAMES_MAX;
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

void bind_unknown_collect(const struct library *library)
{
    dl_iterate_phdr(collect_of_library, (void *)library);
}

bool bind_is_unknown(const char *name)
{
    bool may_be = unknown.are_more && is_function_name(name) && !bind_is_listed(name);
    return may_be || is_collected(name);
}
