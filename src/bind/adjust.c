/* SPDX-License-Identifier: MIT */
/* What is changed in the objects of this process once its MPI is known. */
#include <stdatomic.h>

#include "bind/bind.h"
#include "base/libraries.h"
#include "base/object.h"
#include "base/text.h"
#include "bind/state.h"
#include "bind/fortran_bindings.h"
#include "bind/fortran_callers.h"
#include "op/session.h"

/* One walk over the objects, in the order of their loading. */
struct walk {
    size_t next;       /* of the object that comes next */
    size_t first_new;  /* those before it have been adjusted */
    size_t first_deep; /* those before it were there when the program first opened one with RTLD_DEEPBIND */
    size_t listed;     /* how many objects there were when `counts` was read */
    struct object_counts counts;
    bool is_bypassed;
    bool is_deep;
};

static int object_count(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct walk *walk = context;
    walk->counts = (struct object_counts){.loads = info->dlpi_adds, .unloads = info->dlpi_subs};
    walk->listed++;
    return 0;
}

/* Older ones may count, too, where objects have been unloaded since. relaxed: of this thread's own dlopen() mostly, or
 * ordered by whatever gave this thread the handle. */
static size_t first_deep(const struct walk *walk, bool is_counted, unsigned long long loads)
{
    unsigned long long deep = atomic_load_explicit(&bind_state_seen()->deep, memory_order_relaxed);
    if (deep == 0)
        return SIZE_MAX;
    unsigned long long new_at_most = loads - (deep - 1);
    return is_counted && new_at_most < walk->listed ? walk->listed - new_at_most : 0;
}

/* All objects, where the list has changed since it was counted. */
static void walk_begin(struct walk *walk, const struct dl_phdr_info *info)
{
    bool is_counted = info->dlpi_adds == walk->counts.loads && info->dlpi_subs == walk->counts.unloads;
    unsigned long long new_at_most = info->dlpi_adds - bind_state_seen()->walked_before;
    walk->first_new = is_counted && new_at_most < walk->listed ? walk->listed - new_at_most : 0;
    walk->first_deep = first_deep(walk, is_counted, info->dlpi_adds);
    bind_state_seen()->walked_before = bind_state_seen()->walked;
    bind_state_seen()->walked = info->dlpi_adds;
}

static int adjust_object(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct walk *walk = context;
    struct object object;
    if (walk->next == 0)
        walk_begin(walk, info);
    if (walk->next++ < walk->first_new || !object_read(info, &object))
        return 0;
    bind_absent_hide(&object);
    fortran_bindings_redirect(&object);
    if (!base_library_is_mpi(object_file_name(&object)))
        bind_unknown_redirect(&object);
    walk->is_bypassed |= bind_bypass_has_calls(&object);
    walk->is_deep |= bind_bypass_is_deep(&object, walk->next > walk->first_deep);
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

/* True where objects have been loaded since the last time, and MPI is known. Where there is no MPI library yet, nothing
 * is to be done before the next load; where another thread binds, the next look-up asks again. */
static bool adjust_is_due(void)
{
    unsigned long long loads = object_counts().loads;
    /* relaxed, here and below: nothing else is published through the number. */
    if (loads == atomic_exchange_explicit(&bind_state_seen()->loads, loads, memory_order_relaxed))
        return false;
    enum bind_state state = bind_try_at_once();
    if (state == BIND_BY_ANOTHER)
        atomic_store_explicit(&bind_state_seen()->loads, 0, memory_order_relaxed);
    return state == BIND_DONE;
}

void bind_adjust_objects(void)
{
    if (!adjust_is_due())
        return;
    struct walk walk = {0};
    bool were_redirected = fortran_bindings_are_redirected();
    dl_iterate_phdr(object_count, &walk);
    dl_iterate_phdr(adjust_object, &walk);
    /* Not inside: the dynamic linker's lock is held there. */
    if (walk.is_bypassed)
        session_bypassed();
    if (walk.is_deep)
        session_refuse_bypass(); /* bind_bypass() may not find it again */
    if (fortran_bindings_are_redirected())
        note_callers(were_redirected ? walk.first_new : 0);
}

/* An MPI library that is opened so does not pass our entries of libc either. */
void bind_adjust_deep(const char *path)
{
    unsigned long long never = 0;
    if (path != NULL && base_library_is_mpi(base_text_file_name(path)))
        session_refuse_bypass();
    /* relaxed: see first_deep() */
    (void)atomic_compare_exchange_strong_explicit(&bind_state_seen()->deep, &never, object_counts().loads + 1,
                                                  memory_order_relaxed, memory_order_relaxed);
}
