/* SPDX-License-Identifier: MIT */
/* Ways into MPI that do not pass our entries. An op that Lapwing carries on and a
 * call that it does not see could meet inside MPI, so one such way switches it off. */
#include <stdio.h>
#include <string.h>

#include "base/libraries.h"
#include "base/text.h"
#include "base/object.h"
#include "bind/state.h"
#include "bind/bind.h"
#include "bind/fortran_bindings.h"

bool bind_bypass_is_name(const char *name)
{
    /* The first letter first: see is_absent_name(). */
    bool is_profiling = name[0] == 'P' && (base_text_begins(name, "PMPI_") || base_text_begins(name, "PMPIX_"));
    return is_profiling || (name[0] == 'M' && bind_unknown_lacks_entry(name));
}

static bool is_unseen_name(const char *name, void *context)
{
    return bind_bypass_is_name(name);
}

/* The files of an MPI installation may call each other as they like. */
bool bind_bypass_has_calls(const struct object *object)
{
    return !base_library_is_mpi(object_file_name(object)) && object_find_undefined(object, is_unseen_name, NULL);
}

static bool is_entered_name(const char *name, void *context)
{
    /* The first letter first: see is_absent_name(). */
    return name[0] == 'M' && bind_entry(name) != NULL;
}

struct deep_search {
    bool may_be;
    bool is_found;
};

static void search_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    struct deep_search *search = context;
    search->is_found |= bind_is_past_entry(reference->name, (const void *)*reference->place) ||
                        (search->may_be && object_is_unresolved(object, reference));
}

bool bind_bypass_is_deep(const struct object *object, bool may_be)
{
    struct deep_search search = {may_be, false};
    if (!base_library_is_mpi(object_file_name(object)))
        object_visit_references(object, is_entered_name, search_reference, &search);
    return search.is_found;
}

static bool is_unknown_name(const char *name, void *found)
{
    bool is_found = bind_unknown_lacks_entry(name);
    if (is_found)
        *(const char **)found = name;
    return is_found;
}

/* Where the bindings are not in files of their own (fortran_bindings.h) we do not
 * see what they call, when they call PMPI_X. All of Open MPI's do. */
static bool is_fortran_name(const char *name, void *context)
{
    return name[0] == 'm' && base_text_begins(name, "mpi_") && base_text_ends(name, "_");
}

/* In MPICH only those of the mpi_f08 module do (mpi_wait_f08_ and others). */
static bool is_fortran_2008_name(const char *name, void *context)
{
    return name[0] == 'm' && base_text_begins(name, "mpi_") &&
           (base_text_ends(name, "_f08_") || base_text_ends(name, "_f08ts_"));
}

struct bypass_search {
    bool is_fortran_seen;
    char *text;
    size_t text_bytes;
};

static void describe(struct bypass_search *search, const char *how, const struct object *object)
{
    const char *name = object_file_name(object);
    snprintf(search->text, search->text_bytes, "%s (%s)", how, name[0] == '\0' ? "the program" : name);
}

/* Past our entries goes what has another name, and what has none here. */
static void describe_unseen(struct bypass_search *search, const struct object *object)
{
    char how[64];
    const char *unknown = NULL;
    object_find_undefined(object, is_unknown_name, &unknown);
    snprintf(how, sizeof(how), "calls %s", unknown == NULL ? "PMPI functions" : unknown);
    describe(search, how, object);
}

/* A tool behind our entry that goes on by dlsym(RTLD_NEXT), say: what we call in place of its function it does not see,
 * or takes for the program's. So it is with a layer that gives MPI's functions another meaning. */
static void describe_tool(struct bypass_search *search, const struct object *object)
{
    char how[64];
    const char *function = bind_tool_function(object);
    if (function == NULL)
        return;
    snprintf(how, sizeof(how), "defines %s", function);
    describe(search, how, object);
}

static int search_object(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct bypass_search *search = context;
    struct object object;
    object_visit_fn *is_fortran = bind_all_fortran_calls_pmpi() ? is_fortran_name : is_fortran_2008_name;
    if (!object_read(info, &object) || base_library_is_mpi(object_file_name(&object)))
        return 0;
    if (bind_bypass_has_calls(&object))
        describe_unseen(search, &object);
    else if (bind_bypass_is_deep(&object, false))
        describe(search, "opened with RTLD_DEEPBIND", &object);
    else if (!search->is_fortran_seen && object_find_undefined(&object, is_fortran, NULL))
        describe(search, "uses Fortran bindings", &object);
    else
        describe_tool(search, &object);
    return search->text[0] != '\0';
}

bool bind_bypass(char *text, size_t text_bytes)
{
    struct bypass_search search = {.text = text, .text_bytes = text_bytes};
    text[0] = '\0';
    if (!bind_try())
        return false;
    bind_adjust_objects(); /* the binding may be this call's */
    search.is_fortran_seen = fortran_bindings_are_seen();
    dl_iterate_phdr(search_object, &search);
    return text[0] != '\0';
}
