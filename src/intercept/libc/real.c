/* SPDX-License-Identifier: MIT */
#include "intercept/libc/real.h"

#include <dlfcn.h>
#include <errno.h>

_Atomic bool libc_real_is_loaded;

/* True in a thread that is looking up: dlsym itself may call free (it drops the
 * last error's text), which must not look up again. */
static _Thread_local bool is_loading;

typedef void *dlsym_fn(void *handle, const char *name);
typedef void *dlopen_fn(const char *path, int flags);

_Static_assert(sizeof(struct libc_real) == LIBC_REAL_COUNT * sizeof(void *), "one pointer per name");

long libc_real_absent(void)
{
    errno = ENOSYS;
    return -1;
}

void *libc_real_absent_null(void)
{
    errno = ENOSYS;
    return NULL;
}

/* dlsym is interposed too, and only dlvsym can find the one behind ours. Its
 * version: the newest home (libc since 2.34), then libdl's on x86-64 and aarch64. */
static dlsym_fn *dlsym_find(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        dlsym_fn *found = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        if (found)
            return found;
    }
    return NULL;
}

/* Before GLIBC 2.34 message queues, timers and aio_* were in a library of their
 * own, which a library that is loaded later may bring along. */
static void *function_find_beside(dlsym_fn *find, const char *name)
{
    dlopen_fn *open_library = (dlopen_fn *)find(RTLD_NEXT, "dlopen"); /* ours has none behind it yet */
    void *library = open_library == NULL ? NULL : open_library("librt.so.1", RTLD_LAZY);
    void *found = library == NULL ? NULL : find(library, name);
    (void)dlerror(); /* that was not the program's */
    return found;
}

static void functions_find(dlsym_fn *find)
{
    void **pointers = (void **)&libc_real_functions;
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++) {
        void *found = find(RTLD_NEXT, libc_real_names[i]);
        if (found == NULL)
            found = function_find_beside(find, libc_real_names[i]);
        if (found)
            __atomic_store_n(&pointers[i], found, __ATOMIC_RELAXED); /* the release below publishes it */
    }
}

void libc_real_load(void)
{
    int saved_errno = errno;
    if (is_loading)
        return;
    is_loading = true;
    dlsym_fn *find = dlsym_find();
    if (find) {
        functions_find(find);
        atomic_store_explicit(&libc_real_is_loaded, true, memory_order_release);
    }
    is_loading = false;
    errno = saved_errno;
}

/* As early as possible: later the lookup could run in a signal handler, or
 * between a program's failed dlopen() and its dlerror(). */
__attribute__((constructor(101))) static void real_load_at_start(void)
{
    (void)libc_real();
}
