/* SPDX-License-Identifier: MIT */
#include "base/symbol.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { FIRST_HASH = 5381, HIDDEN_VERSION = 0x8000, WORD_BITS = CHAR_BIT * sizeof(ElfW(Addr)) };

struct symbol_name symbol_name_of(const char *text)
{
    uint32_t hash = FIRST_HASH;
    for (const char *at = text; *at != '\0'; at++)
        hash = hash * 33 + (unsigned char)*at;
    return (struct symbol_name){text, hash};
}

/* Old versions are there for programs that name them (dl_lookup_unversioned in glibc, elf/dl-lookup.c). */
static bool is_definition(const struct object *object, uint32_t index, const char *text)
{
    const ElfW(Sym) *symbol = &object->symbols[index];
    bool is_hidden = object->versions != NULL && (object->versions[index] & HIDDEN_VERSION) != 0;
    return symbol->st_shndx != SHN_UNDEF && !is_hidden && base_text_is(object->strings + symbol->st_name, text);
}

/* The last symbol of a chain has the lowest bit of its hash set, which is no part of the hash. */
static const ElfW(Sym) *
    chain_find(const struct object *object, const uint32_t *chain, uint32_t index, const struct symbol_name *name)
{
    for (;; index++, chain++) {
        if (((*chain ^ name->hash) >> 1) == 0 && is_definition(object, index, name->text))
            return &object->symbols[index];
        if (*chain & 1)
            return NULL;
    }
}

/* Number of buckets, first index, words of the filter, its shift; the filter, the buckets, the chains. */
static const ElfW(Sym) * gnu_find(const struct object *object, const struct symbol_name *name)
{
    uint32_t bucket_count = object->gnu_hash[0];
    uint32_t first = object->gnu_hash[1];
    uint32_t filter_words = object->gnu_hash[2];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(object->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(filter + filter_words);
    ElfW(Addr) word = filter_words == 0 ? 0 : filter[name->hash / WORD_BITS % filter_words];
    unsigned other_bit = (name->hash >> object->gnu_hash[3]) % WORD_BITS;
    if ((word >> name->hash % WORD_BITS & word >> other_bit & 1) == 0 || bucket_count == 0)
        return NULL;
    uint32_t index = buckets[name->hash % bucket_count];
    return index < first || index == 0 ? NULL : chain_find(object, buckets + bucket_count + index - first, index, name);
}

/* An object that only has the older table (DT_HASH), which says how many symbols there are. */
static const ElfW(Sym) * plain_find(const struct object *object, const struct symbol_name *name)
{
    uint32_t count = object->plain_hash == NULL ? 0 : object->plain_hash[1];
    for (uint32_t index = 1; index < count; index++) {
        if (is_definition(object, index, name->text))
            return &object->symbols[index];
    }
    return NULL;
}

const ElfW(Sym) * symbol_find(const struct object *object, const struct symbol_name *name)
{
    return object->gnu_hash != NULL ? gnu_find(object, name) : plain_find(object, name);
}

void *symbol_address(const struct object *object, const ElfW(Sym) * symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    bool is_placed_by_linker = type == STT_GNU_IFUNC || type == STT_TLS;
    return is_placed_by_linker ? NULL : (void *)(object->base + symbol->st_value);
}
