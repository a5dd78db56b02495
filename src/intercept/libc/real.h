/* SPDX-License-Identifier: MIT */
/* The functions that libc's entries stand in front of: the next definition in
 * the process's lookup order, libc's or another preloaded library's. */
#ifndef LIBC_REAL_H
#define LIBC_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "intercept/libc/real_table.h" /* generated */

/* Marks and names an exported entry. The C name differs from the exported one,
 * so that libc's headers (builtins, nonnull attributes, transparent unions)
 * have no say in how an entry is compiled. */
#define LIBC_ENTRY(name) __asm__(#name) __attribute__((visibility("default")))

extern struct libc_real libc_real_functions;
extern const char *const libc_real_names[LIBC_REAL_COUNT];
extern _Atomic bool libc_real_is_loaded;

/* Looks all of them up. Any thread, before or after constructors; again is harmless. */
void libc_real_load(void);

/* What stands in for a function that this libc lacks: -1 (or null) and ENOSYS, or that number. */
long libc_real_absent(void);
int libc_real_absent_error(void);
void *libc_real_absent_null(void);

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
