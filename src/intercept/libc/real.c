/* SPDX-License-Identifier: MIT */
#include "intercept/libc/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "intercept/machine.h"

_Atomic bool libc_real_is_loaded;

/* True in a thread that is looking up: dlsym itself allocates and frees (the texts of
 * errors), which must not look up again. */
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

/* dlsym is interposed too, and only dlvsym can find the one behind ours. By the version
 * that every libc has, before 2.34 in libdl: a lookup that fails allocates, and our
 * entries have nothing behind them yet. */
static dlsym_fn *dlsym_find(void)
{
    return (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", MACHINE_GLIBC_FIRST);
}

/* The release in libc_real_load() publishes it. */
static void pointer_set(void **pointer, void *found)
{
    if (found != NULL)
        __atomic_store_n(pointer, found, __ATOMIC_RELAXED);
}

/* Before all others: a name that this libc lacks costs an error's text. Without these a process
 * on aarch64, whose libc has no __send, ended before main. */
static void allocation_find(dlsym_fn *find)
{
    pointer_set((void **)&libc_real_functions.malloc, find(RTLD_NEXT, "malloc"));
    pointer_set((void **)&libc_real_functions.calloc, find(RTLD_NEXT, "calloc"));
    pointer_set((void **)&libc_real_functions.realloc, find(RTLD_NEXT, "realloc"));
    pointer_set((void **)&libc_real_functions.free, find(RTLD_NEXT, "free"));
}

static void *function_find(dlsym_fn *find, void *beside, const char *name)
{
    void *found = find(RTLD_NEXT, name);
    return found == NULL && beside != NULL ? find(beside, name) : found;
}

/* Before GLIBC 2.34 message queues, timers and aio_* were in a library of their
 * own, which a library that is loaded later may bring along. */
static void *library_open_beside(dlsym_fn *find)
{
    dlopen_fn *open_library = (dlopen_fn *)find(RTLD_NEXT, "dlopen"); /* ours has none behind it yet */
    bool is_in_libc = find(RTLD_NEXT, "aio_read") != NULL;
    return is_in_libc || open_library == NULL ? NULL : open_library("librt.so.1", RTLD_LAZY);
}

static void functions_find(dlsym_fn *find)
{
    void **pointers = (void **)&libc_real_functions;
    allocation_find(find);
    void *beside = library_open_beside(find);
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++)
        pointer_set(&pointers[i], function_find(find, beside, libc_real_names[i]));
    /* What is lacking is not the program's error, and a lookup that succeeds makes the one before
     * forgotten. (dlerror() would, too, but it asks for a translation, and that for a lock of the
     * locale's: seen to hang gdb.) */
    allocation_find(find);
}

bool libc_real_lacks(const char *name)
{
    void *const *pointers = (void *const *)&libc_real_functions;
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++) {
        bool is_absent = pointers[i] == (void *)libc_real_absent || pointers[i] == (void *)libc_real_absent_null;
        if (is_absent && strcmp(libc_real_names[i], name) == 0)
            return true;
    }
    return false;
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
