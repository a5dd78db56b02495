/* SPDX-License-Identifier: MIT */
/* What is changed in the objects of this process once its MPI is known. */
#include <stdatomic.h>

#include "intercept/bind/bind.h"
#include "intercept/bind/object.h"
#include "intercept/bind/state.h"
#include "intercept/fortran/bindings.h"
#include "intercept/fortran/callers.h"
#include "intercept/session.h"

static int adjust_object(struct dl_phdr_info *info, size_t size_bytes, void *is_bypassed)
{
    struct object object;
    if (!object_read(info, &object))
        return 0;
    bind_hide_absent_names(&object);
    fortran_bindings_redirect(&object);
    *(bool *)is_bypassed |= bind_calls_profiling(&object);
    return 0;
}

typedef void object_fn(const struct object *object);

/* MPI's own libraries call each other as they like. */
static int visit_program(struct dl_phdr_info *info, size_t size_bytes, void *visit)
{
    struct object object;
    if (object_read(info, &object) && !bind_is_of_installation(object_file_name(&object)))
        (*(object_fn **)visit)(&object);
    return 0;
}

static void note_callers(void)
{
    object_fn *want = fortran_callers_want;
    object_fn *note = fortran_callers_note;
    dl_iterate_phdr(visit_program, &want);
    fortran_callers_prepare();
    dl_iterate_phdr(visit_program, &note);
}

static int count_loads(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    *(unsigned long long *)context = info->dlpi_adds;
    return 1; /* the counter is the same in every object: stop at the first */
}

void intercept_bind_adjust_objects(void)
{
    /* Objects loaded so far when this was last done. */
    static _Atomic unsigned long long loads_seen;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    /* relaxed: nothing else is published through the number. Where there is no MPI library
     * yet, nothing is to be done before the next load. */
    if (loads == atomic_exchange_explicit(&loads_seen, loads, memory_order_relaxed) || !bind_try())
        return;
    bool is_bypassed = false;
    dl_iterate_phdr(adjust_object, &is_bypassed);
    /* Not inside: the dynamic linker's lock is held there. */
    if (is_bypassed)
        session_bypassed();
    if (fortran_bindings_are_redirected())
        note_callers();
}
