/* SPDX-License-Identifier: MIT */
#include "bind/fortran_bindings.h"

#include <dlfcn.h>
#include <string.h>

#include "base/libraries.h"
#include "base/text.h"
#include "bind/bind.h"
#include "bind/state.h"
#include "op/begin.h"
#include "op/call_site.h"
#include "op/session.h"

/* Open MPI, and MPICH as itself, Intel, Cray, MVAPICH and Debian name it. */
static const char *const name_beginnings[] = {"libmpi_mpifh", "libmpi_usempi", "libmpifort", "libmpichfort"};

static bool file_has_bindings(const char *file_name)
{
    return base_text_begins_any(file_name, name_beginnings, sizeof(name_beginnings) / sizeof(name_beginnings[0]));
}

/* Open MPI makes error handlers and keys of attributes for Fortran, and for the C++ bindings that it had until 4.1, by
 * inner functions, past the entries that would notice that MPI may now call the program. */
static const char handler_maker_name[] = "ompi_errhandler_create";
typedef void *handler_maker_fn(int object_type, void *function, int language);

static void *fortran_bindings_create_errhandler(int object_type, void *function, int language)
{
    handler_maker_fn *maker = (handler_maker_fn *)bind_library_symbol(handler_maker_name);
    begin_expect_callbacks();
    return maker(object_type, function, language);
}

/* extra_state: an address for C++, an integer as wide as one for Fortran. (Keys whose functions have integers of the
 * usual width belong to communicators, and come by a third one.) */
static const char key_maker_name[] = "ompi_attr_create_keyval";
static const char fortran_key_maker_name[] = "ompi_attr_create_keyval_aint";
typedef int key_maker_fn(int object_type, void *copy, void *delete, int *key, intptr_t extra_state, int flags,
                         void *bindings_extra_state);

enum { OBJECT_IS_TYPE = 2 }; /* TYPE_ATTR of ompi/attribute/attribute.h, in 4.1 and 5 */

static key_maker_fn *key_maker(const char *name, int object_type)
{
    if (object_type == OBJECT_IS_TYPE)
        session_expect_type_functions();
    return (key_maker_fn *)bind_library_symbol(name);
}

static int fortran_bindings_create_key_cxx(int object_type, void *copy, void *delete, int *key, intptr_t extra_state,
                                           int flags, void *bindings_extra_state)
{
    return key_maker(key_maker_name, object_type)(object_type, copy, delete, key, extra_state, flags,
                                                  bindings_extra_state);
}

static int fortran_bindings_create_key(int object_type, void *copy, void *delete, int *key, intptr_t extra_state,
                                       int flags, void *bindings_extra_state)
{
    return key_maker(fortran_key_maker_name, object_type)(object_type, copy, delete, key, extra_state, flags,
                                                          bindings_extra_state);
}

static const struct {
    const char *name;
    const void *replacement;
} makers[] = {{handler_maker_name, (const void *)fortran_bindings_create_errhandler},
              {key_maker_name, (const void *)fortran_bindings_create_key_cxx},
              {fortran_key_maker_name, (const void *)fortran_bindings_create_key}};

static const void *maker_of(const char *name)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (strcmp(name, makers[i].name) == 0)
            return makers[i].replacement;
    return NULL;
}

static bool is_maker(const char *name, void *context)
{
    return maker_of(name) != NULL;
}

/* Who calls PMPI_X does not mean a tool that defines MPI_X: led to our entry, the
 * call would reach the tool, perhaps for the second time. */
static const void *entry_of(const char *name)
{
    const void *entry = bind_entry(name);
    return entry == NULL || bind_is_followed_by_tool(name) ? NULL : entry;
}

static const void *replacement_of(const char *name)
{
    const void *maker = maker_of(name);
    if (maker != NULL)
        return maker;
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
