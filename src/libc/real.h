/* SPDX-License-Identifier: MIT */
/* The functions that libc's entries stand in front of: the next definition in
 * the process's lookup order, libc's or another preloaded library's. */
#ifndef LIBC_REAL_H
#define LIBC_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

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

extern struct libc_real libc_real_functions;
extern const struct libc_real_name libc_real_names[LIBC_REAL_COUNT];
extern _Atomic bool libc_real_is_loaded;

/* malloc_usable_size() of the allocator that `free` belongs to, else null: one allocator's function must never see
 * another's block. Once all is loaded. */
extern size_t (*libc_real_usable_size)(void *block);

/* Looks all of them up. Any thread, before or after constructors; again is harmless. */
void libc_real_load(void);

/* Is this the name of an entry that has nothing behind it? */
bool libc_real_lacks(const char *name);

static inline bool libc_real_is_ready(void)
{
    /* acquire: pairs with the release in libc_real_load, so that whoever sees
     * the flag sees the pointers. */
    return atomic_load_explicit(&libc_real_is_loaded, memory_order_acquire);
}

static inline const struct libc_real *libc_real(void)
{
    if (__builtin_expect(!libc_real_is_ready(), 0))
        libc_real_load();
    return &libc_real_functions;
}

#endif
