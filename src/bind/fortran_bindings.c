/* SPDX-License-Identifier: MIT */
#include "bind/fortran_bindings.h"

#include <dlfcn.h>
#include <string.h>

#include "base/libraries.h"
#include "base/text.h"
#include "bind/bind.h"
#include "bind/state.h"
#include "op/call_site.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/transfer.h"

/* Open MPI, and MPICH as itself, Intel, Cray, MVAPICH and Debian name it. */
static const char *const name_beginnings[] = {"libmpi_mpifh", "libmpi_usempi", "libmpifort", "libmpichfort"};

static bool file_has_bindings(const char *file_name)
{
    for (size_t i = 0; i < sizeof(name_beginnings) / sizeof(name_beginnings[0]); i++)
        if (base_text_begins(file_name, name_beginnings[i]))
            return true;
    return false;
}

/* Open MPI makes error handlers for Fortran, and for the C++ bindings that it had
 * until 4.1, by this inner function, past the entries that would notice that MPI may
 * now call the program. */
static const char maker_name[] = "ompi_errhandler_create";
typedef void *maker_fn(int object_type, void *function, int language);

static void *fortran_bindings_create_errhandler(int object_type, void *function, int language)
{
    maker_fn *maker = (maker_fn *)bind_library_symbol(maker_name);
    session_refuse(REASON_CALLBACK);
    transfer_expect_callbacks();
    requests_end_assists();
    return maker(object_type, function, language);
}

/* Who calls PMPI_X does not mean a tool that defines MPI_X: led to our entry, the
 * call would reach the tool, perhaps for the second time. */
static const void *entry_of(const char *name)
{
    const void *entry = bind_entry(name);
    return entry == NULL || bind_is_followed_by_tool(name) ? NULL : entry;
}

static bool is_maker(const char *name, void *context)
{
    return strcmp(name, maker_name) == 0;
}

static const void *replacement_of(const char *name)
{
    if (is_maker(name, NULL))
        return (const void *)fortran_bindings_create_errhandler;
    return base_text_begins(name, "PMPI") ? entry_of(name + 1) : NULL;
}

static bool is_replaced(const char *name, void *context)
{
    return replacement_of(name) != NULL;
}

static void redirect_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    object_write(object, reference->place, (uintptr_t)replacement_of(reference->name));
}

/* All else in the C++ bindings calls MPI_X. */
void fortran_bindings_redirect(const struct object *object)
{
    const char *file_name = object_file_name(object);
    if (base_text_begins(file_name, "libmpi_cxx")) {
        object_visit_references(object, is_maker, redirect_reference, NULL);
    } else if (file_has_bindings(file_name)) {
        object_visit_references(object, is_replaced, redirect_reference, NULL);
        call_site_add_binding(object->loaded);
    }
}

bool fortran_bindings_are_redirected(void)
{
    return call_site_has_bindings();
}

bool fortran_bindings_are_seen(void)
{
    Dl_info definer;
    void *init = dlsym(RTLD_DEFAULT, "mpi_init_");
    if (!fortran_bindings_are_redirected() || bind_has_tool())
        return false;
    if (init == NULL || dladdr(init, &definer) == 0)
        return true; /* loaded for one module only */
    /* A tool may define it too; what the tool calls is looked at like the program. */
    const char *name = base_text_file_name(definer.dli_fname);
    return !base_library_is_mpi(name) || file_has_bindings(name);
}
