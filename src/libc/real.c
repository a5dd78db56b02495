/* SPDX-License-Identifier: MIT */
#include "libc/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/object.h"
#include "base/symbol.h"
#include "base/text.h"

struct libc_real_state libc_real_state;

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

static void *absent_function(size_t place)
{
    return libc_real_names[place].absence == LIBC_REAL_ABSENT ? (void *)absent : (void *)absent_null;
}

/* The kernel's vDSO is in nobody's lookup order, and calls system calls by libc's names. */
static bool is_asked(const struct object *object)
{
    return !base_text_begins(object->soname, "linux-vdso");
}

/* Calls `visit` for each object behind us in the dynamic linker's order, until it returns true. Before us are the
 * program and libraries that were preloaded first, whose functions come to us when they go on. */
typedef bool visit_object_fn(const struct object *object, void *context);

struct walk {
    visit_object_fn *visit;
    void *context;
    bool is_behind_us;
};

static int walk_visit(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    (void)size_bytes;
    struct walk *walk = context;
    struct object object;
    bool is_behind_us = walk->is_behind_us;
    walk->is_behind_us = is_behind_us || object_holds_own((const void *)info->dlpi_addr);
    if (!is_behind_us || !object_read(info, &object) || !is_asked(&object))
        return 0;
    return walk->visit(&object, walk->context);
}

static void objects_walk(visit_object_fn *visit, void *context)
{
    struct walk walk = {.visit = visit, .context = context};
    dl_iterate_phdr(walk_visit, &walk);
}

/* As dl_iterate_phdr() would tell it, but for the segments that nobody asks for here. */
static bool library_read(const struct link_map *map, struct object *object)
{
    ElfW(Phdr) dynamic = {.p_type = PT_DYNAMIC, .p_vaddr = (uintptr_t)map->l_ld - map->l_addr};
    struct dl_phdr_info info = {
        .dlpi_addr = map->l_addr, .dlpi_name = map->l_name, .dlpi_phdr = &dynamic, .dlpi_phnum = 1};
    return object_read(&info, object) && is_asked(object);
}

/* Is it the last one? */
static bool scope_add(const struct link_map *map)
{
    struct object *object = &libc_real_state.objects[libc_real_state.object_count];
    if (!library_read(map, object))
        return false;
    return ++libc_real_state.object_count == LIBC_REAL_OBJECTS_MAX || base_text_begins(object->soname, "libc.so");
}

/* The linker's list for debuggers (link.h), which up to libc never changes. ThreadSanitizer's runtime calls malloc(),
 * and so comes here, before its own dl_iterate_phdr() and strcmp() work: neither is called on the way. */
static void scope_make(void)
{
    const struct link_map *map = _r_debug.r_map;
    while (map != NULL && !object_holds_own(map->l_ld))
        map = map->l_next;
    bool is_made = map == NULL;
    while (!is_made && (map = map->l_next) != NULL)
        is_made = scope_add(map);
}

/* Who comes while it is being made, in another thread or a signal handler, does without it. acquire: who sees that it
 * is made sees the objects. */
static bool scope_is_made(void)
{
    enum libc_real_scope known = atomic_load_explicit(&libc_real_state.scope, memory_order_acquire);
    if (known != LIBC_REAL_SCOPE_IS_UNKNOWN)
        return known == LIBC_REAL_SCOPE_IS_MADE;
    if (!atomic_compare_exchange_strong_explicit(&libc_real_state.scope, &known, LIBC_REAL_SCOPE_IS_BEING_MADE,
                                                 memory_order_relaxed, memory_order_relaxed))
        return false;
    scope_make();
    atomic_store_explicit(&libc_real_state.scope, LIBC_REAL_SCOPE_IS_MADE, memory_order_release);
    return true;
}

struct search {
    struct symbol_name name;
    void *found;
    bool is_placed_by_linker; /* its code's address comes from a function of its own (STT_GNU_IFUNC) */
};

static bool object_ask(const struct object *object, void *context)
{
    struct search *search = context;
    const ElfW(Sym) *symbol = symbol_find(object, &search->name);
    if (symbol == NULL)
        return false;
    search->found = symbol_address(object, symbol);
    search->is_placed_by_linker = search->found == NULL;
    return true;
}

static bool scope_ask(struct search *search)
{
    bool is_over = false;
    for (size_t i = 0; scope_is_made() && i < libc_real_state.object_count && !is_over; i++)
        is_over = object_ask(&libc_real_state.objects[i], search);
    return is_over;
}

/* Not by dlsym(), but where only the dynamic linker knows: a look-up that fails makes a text with the malloc of the
 * program, which may be what called us, and hold its lock. */
static void *definition_find(const struct symbol_name *name)
{
    struct search search = {.name = *name};
    if (!scope_ask(&search))
        objects_walk(object_ask, &search);
    return search.is_placed_by_linker ? LIBC_REAL(dlsym)(RTLD_NEXT, name->text) : search.found;
}

/* What is lacking is looked for again each time: a library that is loaded later may bring it along (message queues,
 * timers and aio_* before GLIBC 2.34). */
void *libc_real_find(size_t place)
{
    int saved_errno = errno;
    const struct symbol_name name = {libc_real_names[place].text, libc_real_names[place].hash};
    void *found = definition_find(&name);
    if (found != NULL)
        atomic_store_explicit(&libc_real_state.functions[place], found, memory_order_relaxed);
    errno = saved_errno;
    return found != NULL ? found : absent_function(place);
}

void *libc_real_named(const char *name)
{
    const struct symbol_name wanted = symbol_name_of(name);
    return definition_find(&wanted);
}

static bool object_has_free(const struct object *object, void *usable_size)
{
    struct search search = {.name = symbol_name_of("free")};
    if (!object_ask(object, &search))
        return false;
    search = (struct search){.name = symbol_name_of("malloc_usable_size")};
    object_ask(object, &search);
    *(void **)usable_size = search.found;
    return true;
}

void libc_real_load(void)
{
    void *usable_size = NULL;
    for (size_t place = 0; place < LIBC_REAL_COUNT; place++)
        (void)libc_real_get(place);
    base_clock_read_by(LIBC_REAL(clock_gettime));
    objects_walk(object_has_free, &usable_size);
    libc_real_state.usable_size = (libc_real_usable_size_fn *)usable_size;
}

libc_real_usable_size_fn *libc_real_usable_size(void)
{
    return libc_real_state.usable_size;
}

bool libc_real_lacks(const char *name)
{
    const struct symbol_name wanted = symbol_name_of(name);
    for (size_t place = 0; place < LIBC_REAL_COUNT; place++) {
        if (libc_real_names[place].hash == wanted.hash && strcmp(libc_real_names[place].text, name) == 0)
            return libc_real_get(place) == absent_function(place);
    }
    return false;
}

/* As early as possible: later it would be made in whatever place first calls an entry. */
__attribute__((constructor(101))) static void real_start(void)
{
    (void)scope_is_made();
}
