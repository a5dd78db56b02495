/* SPDX-License-Identifier: MIT */
#include "intercept/libc/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "intercept/libc/lookup_memory.h"
#include "intercept/libc/presence.h"
#include "intercept/machine.h"

_Atomic bool libc_real_is_loaded;

/* True in a thread that is looking up: dlsym itself allocates and frees (the texts of
 * errors), which must not look up again. */
static _Thread_local bool is_loading;

typedef void *dlsym_fn(void *handle, const char *name);

_Static_assert(sizeof(struct libc_real) == LIBC_REAL_COUNT * sizeof(void *), "one pointer per name");

long libc_real_absent(void)
{
    errno = ENOSYS;
    return -1;
}

int libc_real_absent_error(void)
{
    return ENOSYS;
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

/* relaxed: the release in libc_real_load() publishes what is found first. */
static void pointer_set(size_t i, void *found)
{
    void **pointers = (void **)&libc_real_functions;
    if (found != NULL)
        __atomic_store_n(&pointers[i], found, __ATOMIC_RELAXED);
}

/* A name that this libc lacks costs the text of an error, which our own malloc gives. */
static void allocation_prepare(void)
{
    libc_real_functions.malloc = libc_lookup_malloc;
    libc_real_functions.calloc = libc_lookup_calloc;
    libc_real_functions.realloc = libc_lookup_realloc;
    libc_real_functions.free = libc_lookup_free;
}

/* No lookup that fails: the error's text would come from the malloc of the program, if it defines one, which
 * may be what called us (mmap) and hold its lock. All at once at the end, so that what the lookup takes goes back where
 * it came from. */
static void functions_find(dlsym_fn *find)
{
    void *found[LIBC_REAL_COUNT];
    bool are_present[LIBC_REAL_COUNT] = {false};
    allocation_prepare();
    libc_presence_find(libc_real_names, are_present, LIBC_REAL_COUNT);
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++)
        found[i] = are_present[i] ? find(RTLD_NEXT, libc_real_names[i]) : NULL;
    /* What is lacking is not the program's error, and a lookup that succeeds makes the one before
     * forgotten. (dlerror() would, too, but it asks for a translation, and that for a lock of the
     * locale's: seen to hang gdb.) */
    (void)find(RTLD_NEXT, "dlsym");
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++)
        pointer_set(i, found[i]);
}

static bool pointer_is_absent(const void *pointer)
{
    return pointer == (void *)libc_real_absent || pointer == (void *)libc_real_absent_null ||
           pointer == (void *)libc_real_absent_error;
}

/* Before GLIBC 2.34 message queues, timers and aio_* were in a library of their
 * own, which a library that is loaded later may bring along. */
static void functions_find_beside(dlsym_fn *find)
{
    void *beside = libc_real_functions.dlopen("librt.so.1", RTLD_LAZY);
    for (size_t i = 0; beside != NULL && i < LIBC_REAL_COUNT; i++) {
        if (pointer_is_absent(((void **)&libc_real_functions)[i]))
            pointer_set(i, find(beside, libc_real_names[i]));
    }
    (void)find(RTLD_NEXT, "dlsym"); /* as above */
}

bool libc_real_lacks(const char *name)
{
    void *const *pointers = (void *const *)libc_real();
    for (size_t i = 0; libc_real_is_ready() && i < LIBC_REAL_COUNT; i++) {
        if (pointer_is_absent(pointers[i]) && strcmp(libc_real_names[i], name) == 0)
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
    if (find && libc_real_lacks("aio_read"))
        functions_find_beside(find);
    is_loading = false;
    errno = saved_errno;
}

/* As early as possible: later the lookup could run in a signal handler, or
 * between a program's failed dlopen() and its dlerror(). */
__attribute__((constructor(101))) static void real_load_at_start(void)
{
    (void)libc_real();
}
