/* SPDX-License-Identifier: MIT */
/* What is changed in the objects of this process once its MPI is known. */
#include <stdatomic.h>

#include "bind/bind.h"
#include "base/libraries.h"
#include "base/object.h"
#include "bind/state.h"
#include "bind/fortran_bindings.h"
#include "bind/fortran_callers.h"
#include "op/session.h"

/* One walk over the objects, in the order of their loading. */
struct walk {
    size_t next;      /* of the object that comes next */
    size_t first_new; /* those before it have been adjusted */
    bool is_bypassed;
};

/* Objects come at the end of the dynamic linker's list, so that those which were there at the walk before need no
 * second look: without this a program that opens a hundred libraries would look at five thousand. The walk before
 * counts, not the last one, since another thread may have been loading what was seen. After an unloading all are
 * looked at. The state belongs to who holds the linker's lock, as callbacks of dl_iterate_phdr() do. */
static struct {
    unsigned long long unloads;
    size_t count; /* of objects in the last walk */
    size_t count_before;
    _Atomic unsigned long long loads; /* when objects were last adjusted; any thread */
} seen;

static void walk_begin(struct walk *walk, unsigned long long unloads)
{
    bool is_same = unloads == seen.unloads;
    walk->first_new = is_same ? seen.count_before : 0;
    seen.count_before = is_same ? seen.count : 0;
    seen.unloads = unloads;
}

static int adjust_object(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct walk *walk = context;
    struct object object;
    if (walk->next == 0)
        walk_begin(walk, info->dlpi_subs);
    seen.count = ++walk->next;
    if (walk->next <= walk->first_new || !object_read(info, &object))
        return 0;
    bind_absent_hide(&object);
    fortran_bindings_redirect(&object);
    if (!base_library_is_mpi(object_file_name(&object)))
        bind_unknown_redirect(&object);
    walk->is_bypassed |= bind_bypass_has_calls(&object);
    return 0;
}

typedef void object_fn(const struct object *object);

struct visit {
    size_t next;
    size_t first_new;
    object_fn *function;
};

/* MPI's own libraries call each other as they like. */
static int visit_program(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct visit *visit = context;
    struct object object;
    if (visit->next++ < visit->first_new || !object_read(info, &object))
        return 0;
    if (!base_library_is_mpi(object_file_name(&object)))
        visit->function(&object);
    return 0;
}

static void note_callers(size_t first_new)
{
    struct visit want = {0, first_new, fortran_callers_want};
    struct visit note = {0, first_new, fortran_callers_note};
    dl_iterate_phdr(visit_program, &want);
    fortran_callers_prepare();
    dl_iterate_phdr(visit_program, &note);
}

void bind_adjust_objects(void)
{
    unsigned long long loads = object_counts().loads;
    /* relaxed: nothing else is published through the number. Where there is no MPI library
     * yet, nothing is to be done before the next load. */
    if (loads == atomic_exchange_explicit(&seen.loads, loads, memory_order_relaxed) || !bind_try())
        return;
    struct walk walk = {0};
    bool were_redirected = fortran_bindings_are_redirected();
    dl_iterate_phdr(adjust_object, &walk);
    /* Not inside: the dynamic linker's lock is held there. */
    if (walk.is_bypassed)
        session_bypassed();
    if (fortran_bindings_are_redirected())
        note_callers(were_redirected ? walk.first_new : 0);
}
