/* SPDX-License-Identifier: MIT */
#include "libc/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "base/object.h"
#include "base/symbol.h"
#include "libc/lookup_memory.h"

_Atomic bool libc_real_is_loaded;
size_t (*libc_real_usable_size)(void *block);

/* True in a thread that is looking up: dlsym itself allocates and frees (the texts of
 * errors), which must not look up again. */
static _Thread_local bool is_loading;

typedef size_t usable_size_fn(void *block);
typedef void *dlsym_fn(void *handle, const char *name);

_Static_assert(sizeof(struct libc_real) == LIBC_REAL_COUNT * sizeof(void *), "one pointer per name");

static long absent(void)
{
    errno = ENOSYS;
    return -1;
}

static void *absent_null(void)
{
    errno = ENOSYS;
    return NULL;
}

static void *absent_function(enum libc_real_absence absence)
{
    return absence == LIBC_REAL_ABSENT ? (void *)absent : (void *)absent_null;
}

static bool is_absent_function(const void *function)
{
    return function == (void *)absent || function == (void *)absent_null;
}

/* Places in the table. */
enum {
    FREE = offsetof(struct libc_real, free) / sizeof(void *),
    DLSYM = offsetof(struct libc_real, dlsym) / sizeof(void *)
};

/* Places of the functions that this libc lacks, or lacked; written before libc_real_is_loaded is. */
static uint16_t lacking[LIBC_REAL_COUNT];
static size_t lacking_count;

struct search {
    void *usable_size; /* of the object that has `free` */
    void *found[LIBC_REAL_COUNT];
    bool is_placed_by_linker[LIBC_REAL_COUNT];
    bool is_first; /* the program itself: what is behind our entries comes after it */
};

static void *address_in(const struct object *object, const struct symbol_name *name)
{
    const ElfW(Sym) *symbol = symbol_find(object, name);
    return symbol == NULL ? NULL : symbol_address(object, symbol);
}

static void object_ask(const struct object *object, struct search *search)
{
    bool has_free = search->found[FREE] != NULL;
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++) {
        if (search->found[i] != NULL || search->is_placed_by_linker[i])
            continue;
        const struct symbol_name name = {libc_real_names[i].text, libc_real_names[i].hash};
        const ElfW(Sym) *symbol = symbol_find(object, &name);
        search->found[i] = symbol == NULL ? NULL : symbol_address(object, symbol);
        search->is_placed_by_linker[i] = symbol != NULL && search->found[i] == NULL;
    }
    const struct symbol_name usable_size = symbol_name_of("malloc_usable_size");
    if (!has_free && search->found[FREE] != NULL)
        search->usable_size = address_in(object, &usable_size);
}

/* The kernel's vDSO is in nobody's lookup order, and calls system calls by libc's names. */
static bool is_asked(const struct object *object)
{
    return !object_is_own(object) && !base_text_begins(object->soname, "linux-vdso");
}

static int object_visit(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    (void)size_bytes;
    struct search *search = context;
    struct object object;
    bool is_program = search->is_first;
    search->is_first = false;
    if (!is_program && object_read(info, &object) && is_asked(&object))
        object_ask(&object, search);
    return 0;
}

/* relaxed: the release in libc_real_load() publishes what is found first. */
static void pointer_set(size_t i, void *function)
{
    void **pointers = (void **)&libc_real_functions;
    __atomic_store_n(&pointers[i], function, __ATOMIC_RELAXED);
}

/* What dlsym() allocates meanwhile. */
static void allocation_prepare(void)
{
    libc_real_functions.malloc = libc_lookup_malloc;
    libc_real_functions.calloc = libc_lookup_calloc;
    libc_real_functions.realloc = libc_lookup_realloc;
    libc_real_functions.free = libc_lookup_free;
}

/* In the dynamic linker's order, which begins with what was loaded with the program. No lookup that fails: the error's
 * text would come from the malloc of the program, if it defines one, which may be what called us (mmap) and hold its
 * lock. */
static void functions_find(void)
{
    struct search search = {.is_first = true};
    allocation_prepare();
    dl_iterate_phdr(object_visit, &search);
    dlsym_fn *find = (dlsym_fn *)search.found[DLSYM];
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++) {
        if (search.is_placed_by_linker[i] && find != NULL)
            search.found[i] = find(RTLD_NEXT, libc_real_names[i].text);
    }
    for (size_t i = 0; i < LIBC_REAL_COUNT; i++)
        pointer_set(i, search.found[i] != NULL ? search.found[i] : absent_function(libc_real_names[i].absence));
    libc_real_usable_size = (usable_size_fn *)search.usable_size;
}

/* Before GLIBC 2.34 message queues, timers and aio_* were in a library of their
 * own, which a library that is loaded later may bring along. */
static void functions_find_beside(void)
{
    void *beside = libc_real_functions.dlopen("librt.so.1", RTLD_LAZY);
    for (size_t i = 0; beside != NULL && i < LIBC_REAL_COUNT; i++) {
        if (!is_absent_function(((void **)&libc_real_functions)[i]))
            continue;
        void *found = libc_real_functions.dlsym(beside, libc_real_names[i].text);
        if (found != NULL)
            pointer_set(i, found);
    }
    /* What is lacking is not the program's error, and a lookup that succeeds makes the one before
     * forgotten. (dlerror() would, too, but it asks for a translation, and that for a lock of the
     * locale's: seen to hang gdb.) */
    (void)libc_real_functions.dlsym(RTLD_NEXT, "dlsym");
}

/* A table of their own: every dlsym() asks. */
static void lacking_note(void)
{
    lacking_count = 0;
    for (uint16_t i = 0; i < LIBC_REAL_COUNT; i++) {
        if (is_absent_function(((void **)&libc_real_functions)[i]))
            lacking[lacking_count++] = i;
    }
}

bool libc_real_lacks(const char *name)
{
    (void)libc_real();
    for (size_t i = 0; libc_real_is_ready() && i < lacking_count; i++) {
        if (strcmp(libc_real_names[lacking[i]].text, name) == 0)
            return is_absent_function(((void **)&libc_real_functions)[lacking[i]]);
    }
    return false;
}

void libc_real_load(void)
{
    int saved_errno = errno;
    if (is_loading)
        return;
    is_loading = true;
    functions_find();
    lacking_note();
    atomic_store_explicit(&libc_real_is_loaded, true, memory_order_release);
    if (libc_real_lacks("aio_read"))
        functions_find_beside();
    is_loading = false;
    errno = saved_errno;
}

/* As early as possible: later the lookup could run in a signal handler, or
 * between a program's failed dlopen() and its dlerror(). */
__attribute__((constructor(101))) static void real_load_at_start(void)
{
    (void)libc_real();
}
