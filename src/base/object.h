/* SPDX-License-Identifier: MIT */
/* What a loaded ELF object says about itself in memory: names that it wants from
 * others, and where the dynamic linker wrote their addresses. Read from the
 * dynamic section (System V gABI, chapter 5), so no file is opened. */
#ifndef BASE_OBJECT_H
#define BASE_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct object_relocations {
    const ElfW(Rela) * first;
    size_t count;
};

struct object {
    const char *path; /* "" for the program itself */
    uintptr_t base;
    const ElfW(Dyn) * dynamic;
    const char *soname; /* "" when it has none */
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *gnu_hash;            /* of the names that it defines; NULL when it has none */
    const uint32_t *plain_hash;          /* of all names; NULL when it has none */
    const uint16_t *versions;            /* of each symbol; NULL when it has none */
    size_t undefined_end;                /* symbols at or above it are defined */
    struct object_relocations tables[2]; /* data, calls */
    struct range loaded;                 /* from the first segment to the last */
    struct range read_only;              /* what the linker protects after relocation */
};

/* How many objects the dynamic linker has loaded and unloaded since the process began. */
struct object_counts {
    unsigned long long loads;
    unsigned long long unloads;
};
struct object_counts object_counts(void);

/* False for what has no dynamic symbols. */
bool object_read(const struct dl_phdr_info *info, struct object *object);

/* Is this Lapwing's own code, or its object? */
bool object_holds_own(const void *address);
bool object_is_own(const struct object *object);

/* "libmpi.so.40" of "/usr/lib/libmpi.so.40". */
const char *object_file_name(const struct object *object);

/* Calls `visit` for each name that the object wants from others, until it returns true. */
typedef bool object_visit_fn(const char *name, void *context);
bool object_find_undefined(const struct object *object, object_visit_fn *visit, void *context);

/* The same for each function that it defines for others. */
bool object_find_defined(const struct object *object, object_visit_fn *visit, void *context);

/* The same for each library that it is linked with itself. */
bool object_find_needed(const struct object *object, object_visit_fn *visit, void *context);

/* A place that holds nothing but the address of a name that the object wants from others. */
struct object_reference {
    const char *name;
    bool is_weak;
    uintptr_t *place;
};
typedef void object_reference_fn(const struct object *object, const struct object_reference *reference, void *context);

/* For each of these whose name `is_wanted`. Its names come first: few objects want such a name, and some have a hundred
 * thousand references. `is_wanted` gets no context. */
void object_visit_references(const struct object *object, object_visit_fn *is_wanted, object_reference_fn *visit,
                             void *context);

/* May the dynamic linker still look for it? Then the place leads to a jump of the object's own until the first call. */
bool object_is_unresolved(const struct object *object, const struct object_reference *reference);

/* Puts another address there. A place inside the segment that the linker made
 * read-only after relocation is opened for the one write. */
void object_write(const struct object *object, uintptr_t *place, uintptr_t address);

#endif
