/* SPDX-License-Identifier: MIT */
#include "bind/fortran_callers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bind/fortran.h"

enum { STUB_BYTES = 32 };

/* One stub per name, in the order of the names (generated assembly). */
extern const char fortran_stubs[FORTRAN_NAME_COUNT][STUB_BYTES];

/* targets: written by fortran_callers_prepare() before any stub can be called, then constant; first, since the stubs
 * know it by the address of all. is_wanted: whoever adjusts objects, between two steps. */
struct fortran_callers {
    void *targets[FORTRAN_NAME_COUNT];
    bool is_wanted[FORTRAN_NAME_COUNT];
};
__attribute__((visibility("hidden"))) struct fortran_callers fortran_callers;

static int compare_names(const void *name, const void *other)
{
    return strcmp(name, other);
}

static size_t search_index(const char *name)
{
    enum { NAME_BYTES = sizeof(fortran_names[0]) };
    const char *found = bsearch(name, fortran_names, FORTRAN_NAME_COUNT, NAME_BYTES, compare_names);
    return found == NULL ? FORTRAN_NAME_COUNT : (size_t)(found - fortran_names[0]) / NAME_BYTES;
}

/* Place of a name in all tables; FORTRAN_NAME_COUNT when it has none. The first letter first: this is asked of every
 * name that every library refers to. */
static size_t name_index(const char *name)
{
    return name[0] == 'm' || name[0] == 'M' ? search_index(name) : FORTRAN_NAME_COUNT;
}

static bool want_name(const char *name, void *context)
{
    size_t index = name_index(name);
    if (index != FORTRAN_NAME_COUNT)
        fortran_callers.is_wanted[index] = true;
    return false; /* the next name */
}

void fortran_callers_want(const struct object *object)
{
    object_find_undefined(object, want_name, NULL);
}

void fortran_callers_prepare(void)
{
    for (size_t i = 0; i < FORTRAN_NAME_COUNT; i++) {
        if (!fortran_callers.is_wanted[i])
            continue;
        fortran_callers.is_wanted[i] = false;
        if (fortran_callers.targets[i] == NULL)
            fortran_callers.targets[i] = dlsym(RTLD_DEFAULT, fortran_names[i]);
    }
}

static bool has_stub(const char *name, void *context)
{
    size_t index = name_index(name);
    return index != FORTRAN_NAME_COUNT && fortran_callers.targets[index] != NULL;
}

static void note_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    object_write(object, reference->place, (uintptr_t)fortran_stubs[name_index(reference->name)]);
}

void fortran_callers_note(const struct object *object)
{
    object_visit_references(object, has_stub, note_reference, NULL);
}
