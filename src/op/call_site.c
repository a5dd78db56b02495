/* SPDX-License-Identifier: MIT */
#include "op/call_site.h"

#include <stdatomic.h>
#include <stddef.h>

#include "op/thread.h"

enum { BINDINGS_MAX = 8 };

/* Code of the bindings. Appended by whoever adjusts objects, under the dynamic linker's lock; count
 * is stored last (release), read by all (acquire). */
static struct {
    struct range ranges[BINDINGS_MAX];
    _Atomic size_t count;
} bindings;

void call_site_add_binding(struct range code)
{
    size_t count = atomic_load_explicit(&bindings.count, memory_order_relaxed);
    for (size_t i = 0; i < count; i++)
        if (bindings.ranges[i].low == code.low)
            return;
    if (count == BINDINGS_MAX)
        return;
    bindings.ranges[count] = code;
    atomic_store_explicit(&bindings.count, count + 1, memory_order_release);
}

bool call_site_has_bindings(void)
{
    /* relaxed: only the fact counts. */
    return atomic_load_explicit(&bindings.count, memory_order_relaxed) != 0;
}

const void *call_site_of(const void *return_address)
{
    struct range here = base_range_of(return_address, 1);
    size_t count = atomic_load_explicit(&bindings.count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        if (op_thread.fortran_call != NULL && base_ranges_overlap(here, bindings.ranges[i]))
            return op_thread.fortran_call;
    return return_address;
}
