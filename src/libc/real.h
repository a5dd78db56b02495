/* SPDX-License-Identifier: MIT */
/* The functions that libc's entries stand in front of: the next definition in
 * the process's lookup order, libc's or another preloaded library's. Each is looked
 * up when it is first needed, and what is left when MPI is set up: from then on an
 * entry may be called where looking up could wait (signal handlers, locks). */
#ifndef LIBC_REAL_H
#define LIBC_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/object.h"
#include "libc/real_table.h" /* generated */

/* Marks and names an exported entry. The C name differs from the exported one,
 * so that libc's headers (builtins, nonnull attributes, transparent unions)
 * have no say in how an entry is compiled. */
#define LIBC_ENTRY(name) __asm__(#name) __attribute__((visibility("default")))

/* What stands in for a function that this libc lacks. */
enum libc_real_absence {
    LIBC_REAL_ABSENT,     /* -1, and ENOSYS in errno */
    LIBC_REAL_ABSENT_NULL /* null, the same */
};

/* The text and its number in hash tables, made beforehand. No pointers: the dynamic linker would write them in
 * every process. */
struct libc_real_name {
    char text[LIBC_REAL_NAME_BYTES];
    uint32_t hash;
    enum libc_real_absence absence;
};

extern const struct libc_real_name libc_real_names[LIBC_REAL_COUNT];

typedef size_t libc_real_usable_size_fn(void *block);

enum { LIBC_REAL_OBJECTS_MAX = 64 };
enum libc_real_scope { LIBC_REAL_SCOPE_IS_UNKNOWN, LIBC_REAL_SCOPE_IS_BEING_MADE, LIBC_REAL_SCOPE_IS_MADE };

/* functions: in the order of struct libc_real; null: not looked up yet, or lacking. Written by whoever looks one up,
 * always with the same address, and by libc_real_set(); relaxed, since the code that it leads to was there before.
 * The rest is for real.c. objects: what was loaded with the program, from behind us up to libc: never unloaded, so that
 * it can be asked without the dynamic linker's lock. Nearly always enough. usable_size: written by libc_real_load(). */
extern __attribute__((visibility("hidden"))) struct libc_real_state {
    void *_Atomic functions[LIBC_REAL_COUNT];
    libc_real_usable_size_fn *usable_size;
    _Atomic enum libc_real_scope scope;
    size_t object_count;
    struct object objects[LIBC_REAL_OBJECTS_MAX];
} libc_real_state;

/* Looks one up. Any thread, in signal handlers, before constructors, in a child of fork(); takes no lock for what was
 * loaded with the program, and allocates nothing. Keeps errno. */
void *libc_real_find(size_t place);

/* The same for a function that has no entry; null: there is none. */
void *libc_real_named(const char *name);

/* Looks all of them up; again is harmless. */
void libc_real_load(void);

/* malloc_usable_size() of the allocator that `free` belongs to, else null: one allocator's function must never see
 * another's block. Once all is looked up. */
libc_real_usable_size_fn *libc_real_usable_size(void);

/* Is this the name of an entry that has nothing behind it? */
bool libc_real_lacks(const char *name);

static inline void *libc_real_found(size_t place)
{
    return atomic_load_explicit(&libc_real_state.functions[place], memory_order_relaxed);
}

/* From now on this function stands behind the entry, where another has been found before. release: what the function
 * needs was written before. */
static inline void libc_real_set(size_t place, void *function)
{
    atomic_store_explicit(&libc_real_state.functions[place], function, memory_order_release);
}

static inline void *libc_real_get(size_t place)
{
    void *found = libc_real_found(place);
    return __builtin_expect(found != NULL, 1) ? found : libc_real_find(place);
}

#define LIBC_REAL_PLACE(name) (offsetof(struct libc_real, name) / sizeof(void *))
#define LIBC_REAL_TYPE(name) __typeof__(((struct libc_real *)0)->name)

/* The function behind an entry, with its type; FOUND: null when it has not been looked up. */
#define LIBC_REAL(name) ((LIBC_REAL_TYPE(name))libc_real_get(LIBC_REAL_PLACE(name)))
#define LIBC_REAL_FOUND(name) ((LIBC_REAL_TYPE(name))libc_real_found(LIBC_REAL_PLACE(name)))

#endif
