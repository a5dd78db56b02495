/* SPDX-License-Identifier: MIT */
#include "intercept/libc/jump.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>

#include "intercept/bind/bind.h"
#include "intercept/libc/real.h"
#include "intercept/libc/use.h"

/* How often libraries had been loaded when names were last hidden. */
static _Atomic unsigned long long known_loads;

static int loads_read(struct dl_phdr_info *object, size_t object_bytes, void *loads)
{
    *(unsigned long long *)loads = object->dlpi_adds;
    return 1; /* the counter is the same in every object: stop at the first */
}

/* A library that has just been loaded is first used through dlsym (Python asks
 * for PyInit_<module>): time to make the MPI names that this MPI lacks look
 * absent in it. dlopen itself stays libc's, since it looks where its caller
 * lives (RUNPATH, $ORIGIN) and work is needed after it, not before. */
void *libc_jump_before_dlsym(void)
{
    int saved_errno = errno;
    unsigned long long loads = 0;
    dl_iterate_phdr(loads_read, &loads);
    /* relaxed: two threads that both see news both hide, which does no harm. */
    if (atomic_exchange_explicit(&known_loads, loads, memory_order_relaxed) != loads)
        intercept_bind_hide_absent_names();
    errno = saved_errno;
    return (void *)libc_real()->dlsym;
}

/* The child runs on its parent's stack until it executes another program, so no
 * frame of ours may lie there: only the work before is ours. */
void *libc_jump_before_vfork(void)
{
    if (protect_is_armed())
        libc_use_all();
    return (void *)libc_real()->vfork;
}
