/* SPDX-License-Identifier: MIT */
/* By the hash tables that objects carry (DT_GNU_HASH; binutils, bfd/elflink.c; glibc, elf/dl-lookup.c). */
#include "intercept/libc/presence.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_HASH = 5381 };

struct tables {
    uintptr_t base;
    const uint32_t *hash; /* of all names that the object defines */
    const ElfW(Sym) * symbols;
    const char *names;
};

struct search {
    const char *name;
    uint32_t hash;
    bool is_first; /* the program itself: what is behind our entries comes after it */
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = FIRST_HASH;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The vDSO's addresses are not moved by the loader. */
static const void *moved(uintptr_t base, uintptr_t address)
{
    return (const void *)(address < base ? base + address : address);
}

static struct tables tables_of(const struct dl_phdr_info *object, const ElfW(Dyn) * entry)
{
    struct tables tables = {.base = object->dlpi_addr};
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            tables.hash = moved(object->dlpi_addr, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = moved(object->dlpi_addr, entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB)
            tables.names = moved(object->dlpi_addr, entry->d_un.d_ptr);
    }
    return tables;
}

static bool chain_has(const struct tables *tables, const uint32_t *chain, uint32_t index, const struct search *search)
{
    for (;; index++, chain++) {
        bool is_same = ((*chain ^ search->hash) >> 1) == 0;
        const ElfW(Sym) *symbol = &tables->symbols[index];
        if (is_same && symbol->st_shndx != SHN_UNDEF && strcmp(tables->names + symbol->st_name, search->name) == 0)
            return true;
        if (*chain & 1)
            return false;
    }
}

/* Number of buckets, first index, words of the filter, its shift; the filter, the buckets, the chains. */
static bool tables_have(const struct tables *tables, const struct search *search)
{
    uint32_t bucket_count = tables->hash[0];
    uint32_t first = tables->hash[1];
    const uint32_t *buckets = tables->hash + 4 + tables->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    uint32_t index = bucket_count == 0 ? 0 : buckets[search->hash % bucket_count];
    return index >= first && index != 0 && chain_has(tables, buckets + bucket_count + index - first, index, search);
}

static int object_ask(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    struct tables tables = {0};
    bool is_left_out = search->is_first;
    search->is_first = false;
    for (int i = 0; i < object->dlpi_phnum && !is_left_out; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + header->p_vaddr;
        is_left_out |= header->p_type == PT_LOAD && (uintptr_t)hash_of - begin < header->p_memsz;
        if (header->p_type == PT_DYNAMIC)
            tables = tables_of(object, (const void *)begin);
    }
    if (is_left_out || tables.symbols == NULL || tables.names == NULL)
        return 0;
    return tables.hash == NULL || tables_have(&tables, search);
}

bool libc_presence_of(const char *name)
{
    struct search search = {name, hash_of(name), true};
    return dl_iterate_phdr(object_ask, &search) != 0;
}
