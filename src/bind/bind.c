/* SPDX-License-Identifier: MIT */
#include "bind/bind.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/options.h"
#include "bind/library.h"
#include "base/object.h"
#include "bind/state.h"
#include "base/symbol.h"
#include "bind/names.h"
#include "op/observer.h"

/* Where each exported MPI_* jumps to (generated assembly). Written under bind_lock;
 * read by the jumps without a lock: a jump that still sees the old value goes to
 * bind_jump(), which answers from the table. */
extern _Atomic(void *) stubs_slots[NAMES_COUNT];

enum { NAME_BYTES = sizeof(names_mpi[0]), PROFILING_NAME_BYTES = NAME_BYTES + 1 };

static void profiling_name_put(char name[PROFILING_NAME_BYTES], size_t index)
{
    name[0] = 'P';
    memcpy(name + 1, names_mpi[index], NAME_BYTES);
}

/* What the loaded objects define of one name. */
struct definitions {
    char profiling_text[PROFILING_NAME_BYTES];
    struct symbol_name plain;
    struct symbol_name profiling;
    void *own;         /* the MPI library's PMPI_X, or its MPI_X */
    bool is_elsewhere; /* an object that is neither the program, nor Lapwing, nor the MPI library has one of them */
};

struct definition_search {
    size_t next; /* object */
    struct definitions names[NAMES_COUNT];
};

/* Owner: the thread that binds, under the lock; read by all once is_done.
 * binder: that thread while it binds, else 0: dlopen(), which binding calls, is interposed and comes back through
 * bind_adjust_objects(). relaxed: a thread looks for its own number only, which no other writes. */
static struct {
    struct base_lock lock;
    _Atomic bool is_done;
    _Atomic pthread_t binder;
    struct library library;
    const struct bind_backend *backend;
    bool is_measured; /* is a profile wanted? Asked once: it takes a look at a folder, maybe of a shared file system */
    void *targets[NAMES_COUNT]; /* NULL: this MPI lacks the function */
    bool is_followed_by_tool[NAMES_COUNT];
    struct definition_search search; /* too large for a stack */
    struct bind_state_seen seen;     /* see there */
} binding;

struct bind_state_seen *bind_state_seen(void)
{
    return &binding.seen;
}

static void definitions_begin(struct definitions *name, size_t index)
{
    *name = (struct definitions){.plain = symbol_name_of(names_mpi[index])};
    profiling_name_put(name->profiling_text, index);
    name->profiling = symbol_name_of(name->profiling_text);
}

static void definition_in_library(const struct object *object, struct definitions *name)
{
    const ElfW(Sym) *symbol = symbol_find(object, &name->profiling);
    symbol = symbol != NULL ? symbol : symbol_find(object, &name->plain);
    name->own = symbol == NULL ? NULL : symbol_address(object, symbol);
}

static void definition_beside(const struct object *object, struct definitions *name)
{
    name->is_elsewhere |= symbol_find(object, &name->plain) != NULL || symbol_find(object, &name->profiling) != NULL;
}

static int definitions_visit(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct definition_search *search = context;
    struct object object;
    bool is_program = search->next++ == 0;
    if (is_program || !object_read(info, &object) || object_is_own(&object))
        return 0;
    bool is_library = object.loaded.low == binding.library.base;
    if (is_library)
        binding.library.loaded = object.loaded;
    for (size_t i = 0; i < NAMES_COUNT; i++)
        (is_library ? definition_in_library : definition_beside)(&object, &search->names[i]);
    return 0;
}

static void definitions_find(struct definition_search *search)
{
    for (size_t i = 0; i < NAMES_COUNT; i++)
        definitions_begin(&search->names[i], i);
    search->next = 0;
    dl_iterate_phdr(definitions_visit, search);
}

/* The slow way: the library may consist of several objects. */
static void *own_function_beside(size_t index)
{
    char profiling_name[PROFILING_NAME_BYTES];
    profiling_name_put(profiling_name, index);
    void *profiling = dlsym(binding.library.handle, profiling_name);
    return profiling != NULL ? profiling : dlsym(binding.library.handle, names_mpi[index]);
}

/* A profiling tool loaded after us that defines MPI_X itself: a call that we did
 * not intercept would reach the tool, not the library's PMPI_X. */
static void *tool_function(const char *name, const void *own)
{
    void *next = dlsym(RTLD_NEXT, name);
    return next != own && next != dlsym(binding.library.handle, name) ? next : NULL;
}

/* Where the program's call goes; NULL: to MPI's own function. */
static void *entry_at(size_t index)
{
    void *measured = binding.is_measured ? binding.backend->measured_at(index) : NULL;
    return measured != NULL ? measured : binding.backend->entry_at(index);
}

static void bind_name(size_t index, const struct definitions *defined)
{
    bool is_plain = defined->own != NULL || !defined->is_elsewhere;
    void *function = is_plain ? defined->own : own_function_beside(index);
    bool may_have_tool = function != NULL && defined->is_elsewhere;
    void *tool = may_have_tool ? tool_function(names_mpi[index], function) : NULL;
    binding.is_followed_by_tool[index] = tool != NULL;
    function = tool != NULL ? tool : function;
    binding.targets[index] = function;
    if (binding.backend == NULL || function == NULL)
        return;
    /* A struct of function pointers: one pointer per name, as its static assertion says. */
    memcpy((char *)binding.backend->real + index * sizeof(function), &function, sizeof(function));
    if (entry_at(index) != NULL)
        binding.targets[index] = entry_at(index);
}

static void bind_slots(void)
{
    for (size_t i = 0; i < NAMES_COUNT; i++) {
        /* release: whoever jumps through the slot finds the backend's tables filled. */
        if (binding.targets[i] != NULL)
            atomic_store_explicit(&stubs_slots[i], binding.targets[i], memory_order_release);
    }
}

static void bind_say_off(void)
{
    fprintf(stderr, "lapwing: off: %s is no MPI library that Lapwing knows; the program runs unchanged\n",
            binding.library.path);
}

static bool bind_library(void)
{
    if (!library_find(&binding.library))
        return false;
    /* Another library's constructor (UCX's) may bring us here before our own has run. */
    options_read();
    binding.backend = options_are_off() || binding.library.abi == NULL ? NULL : binding.library.abi->backend;
    if (binding.backend != NULL)
        bind_unknown_collect(&binding.library);
    if (binding.backend != NULL && !binding.backend->prepare(binding.library.handle))
        binding.backend = NULL;
    if (binding.backend == NULL && !options_are_off())
        bind_say_off();
    binding.is_measured = binding.backend != NULL && observer.is_wanted();
    definitions_find(&binding.search);
    for (size_t i = 0; i < NAMES_COUNT; i++)
        bind_name(i, &binding.search.names[i]);
    bind_slots();
    return true;
}

/* acquire: pairs with the release below, so that the tables are seen complete. */
static bool binding_is_done(void)
{
    return atomic_load_explicit(&binding.is_done, memory_order_acquire);
}

static bool binding_is_own(void)
{
    return atomic_load_explicit(&binding.binder, memory_order_relaxed) == pthread_self();
}

/* The lock is taken. */
static bool bind_and_release(void)
{
    atomic_store_explicit(&binding.binder, pthread_self(), memory_order_relaxed);
    bool is_done = binding_is_done() || bind_library();
    atomic_store_explicit(&binding.is_done, is_done, memory_order_release);
    atomic_store_explicit(&binding.binder, 0, memory_order_relaxed);
    base_lock_release(&binding.lock);
    return is_done;
}

bool bind_try(void)
{
    if (binding_is_done() || binding_is_own())
        return binding_is_done();
    base_lock_take(&binding.lock);
    return bind_and_release();
}

enum bind_state bind_try_at_once(void)
{
    if (binding_is_done() || binding_is_own())
        return binding_is_done() ? BIND_DONE : BIND_NOT_YET;
    if (!base_lock_try(&binding.lock))
        return BIND_BY_ANOTHER;
    return bind_and_release() ? BIND_DONE : BIND_NOT_YET;
}

/* Unless the child was forked by the thread that binds, in a constructor say: it goes on. */
void bind_forked_child(void)
{
    if (binding_is_own())
        return;
    atomic_store_explicit(&binding.binder, 0, memory_order_relaxed);
    atomic_store_explicit(&binding.lock.state, 0, memory_order_relaxed);
}

/* Place of a name in all tables; NAMES_COUNT when it has none. */
static size_t bind_index(const char *name)
{
    size_t low = 0;
    size_t high = NAMES_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, names_mpi[middle]);
        if (order == 0)
            return middle;
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return NAMES_COUNT;
}

bool bind_is_absent(const char *name)
{
    size_t index = bind_index(name);
    return index != NAMES_COUNT && binding.targets[index] == NULL;
}

bool bind_is_listed(const char *name)
{
    return bind_index(name) != NAMES_COUNT;
}

const void *bind_entry(const char *name)
{
    size_t index = bind_index(name);
    bool is_bound = index != NAMES_COUNT && binding.backend != NULL && binding.targets[index] != NULL;
    return is_bound ? entry_at(index) : NULL;
}

static bool is_of_library(const void *function)
{
    return base_range_has(binding.library.loaded, (uintptr_t)function);
}

/* Not every library has MPI_X and PMPI_X at one address, or in one object. */
bool bind_is_past_entry(const char *name, const void *function)
{
    if (function == NULL || !binding_is_done() || bind_entry(name) == NULL)
        return false;
    return is_of_library(function) || function == bind_next(bind_index(name));
}

void *bind_next(size_t index)
{
    void *function;
    if (index >= NAMES_COUNT)
        return bind_unknown_next(index - NAMES_COUNT);
    memcpy(&function, (const char *)binding.backend->real + index * sizeof(function), sizeof(function));
    return function;
}

bool bind_is_followed_by_tool(const char *name)
{
    size_t index = bind_index(name);
    return index != NAMES_COUNT && binding.is_followed_by_tool[index];
}

bool bind_has_tool(void)
{
    bool is_any = false;
    for (size_t i = 0; i < NAMES_COUNT && !is_any; i++)
        is_any = binding.is_followed_by_tool[i];
    return is_any;
}

const char *bind_tool_function(const struct object *object)
{
    for (size_t i = 0; i < NAMES_COUNT; i++)
        if (names_are_replaced[i] && binding.is_followed_by_tool[i] &&
            base_range_has(object->loaded, (uintptr_t)bind_next(i)))
            return names_mpi[i];
    return NULL;
}

void *bind_library_symbol(const char *name)
{
    return dlsym(binding.library.handle, name);
}

bool bind_offers(const char *name)
{
    return bind_try() && !bind_is_absent(name);
}

bool bind_all_fortran_calls_pmpi(void)
{
    return binding.library.abi != NULL && binding.library.abi->all_fortran_calls_pmpi;
}

/* The words and the exit status of glibc's dynamic linker when a lazily bound
 * function does not exist: that is what this program would have met without us. */
static void bind_fail(const char *name)
{
    fprintf(stderr, "%s: symbol lookup error: undefined symbol: %s\n", program_invocation_name, name);
    _exit(127);
}

/* Called by the jumps' binder with the number of the name; returns where to go. */
void *bind_jump(size_t index);
void *bind_jump(size_t index)
{
    if (!bind_try() || binding.targets[index] == NULL)
        bind_fail(names_mpi[index]);
    return binding.targets[index];
}

const char *bind_function_name(uint32_t index)
{
    return names_mpi[index];
}

const char *bind_library_path(void)
{
    return atomic_load_explicit(&binding.is_done, memory_order_acquire) ? binding.library.path : "";
}
