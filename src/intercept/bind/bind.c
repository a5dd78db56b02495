/* SPDX-License-Identifier: MIT */
#include "intercept/bind/bind.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/options.h"
#include "intercept/bind/library.h"
#include "intercept/bind/state.h"
#include "intercept/names.h"
#include "intercept/profile.h"

extern const struct intercept_backend intercept_backend_openmpi;
extern const struct intercept_backend intercept_backend_mpich;
extern const struct intercept_backend intercept_backend_standard;

/* Where each exported MPI_* jumps to (generated assembly). Written under bind_lock;
 * read by the jumps without a lock: a jump that still sees the old value goes to
 * intercept_bind(), which answers from the table. */
extern _Atomic(void *) intercept_slots[INTERCEPT_NAME_COUNT];

static struct base_lock bind_lock;

/* Owner: the thread that binds, under bind_lock; read by all once bind_is_done. */
static struct library library;
static const struct intercept_backend *backend;
static void *targets[INTERCEPT_NAME_COUNT]; /* NULL: this MPI lacks the function */
static bool is_followed_by_tool[INTERCEPT_NAME_COUNT];
static _Atomic bool bind_is_done;

/* Set while this thread binds: dlopen(), which binding calls, is interposed and
 * comes back through intercept_bind_adjust_objects(). */
static _Thread_local bool is_binding;

static const struct intercept_backend *backend_of(enum library_abi abi)
{
    static const struct intercept_backend *const backends[] = {
        [LIBRARY_UNKNOWN] = NULL,
        [LIBRARY_OPENMPI] = &intercept_backend_openmpi,
        [LIBRARY_MPICH] = &intercept_backend_mpich,
        [LIBRARY_STANDARD] = &intercept_backend_standard,
    };
    return backends[abi];
}

/* MPI's own function. */
static void *own_function(const char *name)
{
    char profiling_name[64];
    snprintf(profiling_name, sizeof(profiling_name), "P%s", name);
    void *profiling = dlsym(library.handle, profiling_name);
    return profiling != NULL ? profiling : dlsym(library.handle, name);
}

/* A profiling tool loaded after us that defines MPI_X itself: a call that we did
 * not intercept would reach the tool, not the library's PMPI_X. */
static void *tool_function(const char *name, const void *own)
{
    void *next = dlsym(RTLD_NEXT, name);
    return next != own && next != dlsym(library.handle, name) ? next : NULL;
}

/* Where the program's call goes; NULL: to MPI's own function. */
static void *entry_at(size_t index)
{
    bool is_measured = profile_is_wanted() && backend->measured[index] != NULL;
    return is_measured ? backend->measured[index] : backend->entries[index];
}

static void bind_name(size_t index)
{
    void *function = own_function(intercept_names[index]);
    void *tool = function == NULL ? NULL : tool_function(intercept_names[index], function);
    is_followed_by_tool[index] = tool != NULL;
    function = tool != NULL ? tool : function;
    targets[index] = function;
    if (backend == NULL || function == NULL)
        return;
    /* A struct of function pointers: one pointer per name, as its static assertion says. */
    memcpy((char *)backend->real + index * sizeof(function), &function, sizeof(function));
    if (entry_at(index) != NULL)
        targets[index] = entry_at(index);
}

static void bind_slots(void)
{
    for (size_t i = 0; i < INTERCEPT_NAME_COUNT; i++) {
        /* release: whoever jumps through the slot finds the backend's tables filled. */
        if (targets[i] != NULL)
            atomic_store_explicit(&intercept_slots[i], targets[i], memory_order_release);
    }
}

static void bind_say_off(void)
{
    fprintf(stderr, "lapwing: off: %s is no MPI library that Lapwing knows; the program runs unchanged\n",
            library.path);
}

static bool bind_library(void)
{
    if (!library_find(&library))
        return false;
    /* Another library's constructor (UCX's) may bring us here before our own has run. */
    options_read();
    backend = backend_of(library.abi);
    if (backend != NULL && !backend->prepare(library.handle))
        backend = NULL;
    if (backend == NULL)
        bind_say_off();
    for (size_t i = 0; i < INTERCEPT_NAME_COUNT; i++)
        bind_name(i);
    bind_slots();
    return true;
}

bool bind_try(void)
{
    /* acquire: pairs with the release below, so that the tables are seen complete. */
    if (atomic_load_explicit(&bind_is_done, memory_order_acquire))
        return true;
    if (is_binding)
        return false;
    base_lock_take(&bind_lock);
    is_binding = true;
    bool is_done = atomic_load_explicit(&bind_is_done, memory_order_relaxed) || bind_library();
    atomic_store_explicit(&bind_is_done, is_done, memory_order_release);
    is_binding = false;
    base_lock_release(&bind_lock);
    return is_done;
}

/* Place of a name in all tables; INTERCEPT_NAME_COUNT when it has none. */
static size_t bind_index(const char *name)
{
    size_t low = 0;
    size_t high = INTERCEPT_NAME_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, intercept_names[middle]);
        if (order == 0)
            return middle;
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return INTERCEPT_NAME_COUNT;
}

bool bind_is_absent(const char *name)
{
    size_t index = bind_index(name);
    return index != INTERCEPT_NAME_COUNT && targets[index] == NULL;
}

const void *bind_entry(const char *name)
{
    size_t index = bind_index(name);
    bool is_bound = index != INTERCEPT_NAME_COUNT && backend != NULL && targets[index] != NULL;
    return is_bound ? entry_at(index) : NULL;
}

void *bind_next(size_t index)
{
    void *function;
    memcpy(&function, (const char *)backend->real + index * sizeof(function), sizeof(function));
    return function;
}

bool bind_is_followed_by_tool(const char *name)
{
    size_t index = bind_index(name);
    return index != INTERCEPT_NAME_COUNT && is_followed_by_tool[index];
}

void *bind_library_symbol(const char *name)
{
    return dlsym(library.handle, name);
}

bool intercept_bind_offers(const char *name)
{
    return bind_try() && !bind_is_absent(name);
}

enum library_abi bind_abi(void)
{
    return library.abi;
}

/* The words and the exit status of glibc's dynamic linker when a lazily bound
 * function does not exist: that is what this program would have met without us. */
static void bind_fail(const char *name)
{
    fprintf(stderr, "%s: symbol lookup error: undefined symbol: %s\n", program_invocation_name, name);
    _exit(127);
}

/* Called by the jumps' binder with the number of the name; returns where to go. */
void *intercept_bind(size_t index);
void *intercept_bind(size_t index)
{
    if (!bind_try() || targets[index] == NULL)
        bind_fail(intercept_names[index]);
    return targets[index];
}

const char *intercept_bind_library_path(void)
{
    return atomic_load_explicit(&bind_is_done, memory_order_acquire) ? library.path : "";
}
