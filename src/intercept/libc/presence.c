/* SPDX-License-Identifier: MIT */
/* By the hash tables that objects carry (DT_GNU_HASH; binutils, bfd/elflink.c; glibc, elf/dl-lookup.c). */
#include "intercept/libc/presence.h"

#include <stdint.h>
#include <string.h>

#include "intercept/bind/object.h"

enum { FIRST_HASH = 5381 };

struct wanted {
    const char *name;
    uint32_t hash;
};

struct search {
    const char *const *names;
    bool *are_present;
    size_t count;
    bool is_first; /* the program itself: what is behind our entries comes after it */
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = FIRST_HASH;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool chain_has(const struct object *object, const uint32_t *chain, uint32_t index, const struct wanted *wanted)
{
    for (;; index++, chain++) {
        bool is_same = ((*chain ^ wanted->hash) >> 1) == 0;
        const ElfW(Sym) *symbol = &object->symbols[index];
        if (is_same && symbol->st_shndx != SHN_UNDEF && strcmp(object->strings + symbol->st_name, wanted->name) == 0)
            return true;
        if (*chain & 1)
            return false;
    }
}

/* Number of buckets, first index, words of the filter, its shift; the filter, the buckets, the chains. */
static bool object_defines(const struct object *object, const struct wanted *wanted)
{
    uint32_t bucket_count = object->gnu_hash[0];
    uint32_t first = object->gnu_hash[1];
    const uint32_t *buckets = object->gnu_hash + 4 + object->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    uint32_t index = bucket_count == 0 ? 0 : buckets[wanted->hash % bucket_count];
    return index >= first && index != 0 && chain_has(object, buckets + bucket_count + index - first, index, wanted);
}

/* An object without such a table may define anything. */
static void object_ask(const struct object *object, const struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->are_present[i])
            continue;
        struct wanted wanted = {search->names[i], hash_of(search->names[i])};
        search->are_present[i] = object->gnu_hash == NULL || object_defines(object, &wanted);
    }
}

static bool is_own(const struct object *object)
{
    return object->loaded.low <= (uintptr_t)hash_of && (uintptr_t)hash_of < object->loaded.high;
}

static int object_visit(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    struct object object;
    bool is_program = search->is_first;
    search->is_first = false;
    if (!is_program && object_read(info, &object) && !is_own(&object))
        object_ask(&object, search);
    return 0;
}

void libc_presence_find(const char *const names[], bool are_present[], size_t count)
{
    struct search search = {names, are_present, count, true};
    dl_iterate_phdr(object_visit, &search);
}
