/* SPDX-License-Identifier: MIT */
/* Exported names that this process's MPI lacks must look absent. A program that
 * refers to MPI_Send_c weakly asks "is its address NULL?", and the preload answered
 * no before anybody knew which MPI there would be. So the answer is taken back, in
 * the places where the dynamic linker has written it: what glibc itself writes for
 * a weak reference that nobody defines is zero. */

#include "base/text.h"
#include "base/object.h"
#include "bind/state.h"

/* First and last byte of the exported jumps (generated assembly). */
extern const char stubs_begin[];
extern const char stubs_end[];

static bool is_our_jump(uintptr_t address)
{
    return address >= (uintptr_t)stubs_begin && address < (uintptr_t)stubs_end;
}

static bool is_absent_name(const char *name, void *context)
{
    /* The first letter first: this is asked of every name that every library refers to. */
    return name[0] == 'M' && base_text_begins(name, "MPI") && bind_is_absent(name);
}

static void hide_reference(const struct object *object, const struct object_reference *reference, void *context)
{
    if (reference->is_weak && is_our_jump(*reference->place))
        object_write(object, reference->place, 0);
}

void bind_absent_hide(const struct object *object)
{
    object_visit_references(object, is_absent_name, hide_reference, NULL);
}
