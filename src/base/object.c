/* SPDX-License-Identifier: MIT */
#include "base/object.h"

#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"
#include "base/pages.h"
#include "base/text.h"

/* Tags of the dynamic section by number; only those below DT_NUM, the GNU hash and the versions are kept. */
struct dynamic_values {
    uintptr_t value[DT_NUM];
    uintptr_t gnu_hash;
    uintptr_t versions;
};

/* glibc adds the base to addresses when it maps an object; for the vDSO it cannot. */
static const void *absolute(const struct object *object, uintptr_t address)
{
    return (const void *)(address < object->base ? object->base + address : address);
}

static void read_dynamic(const ElfW(Dyn) * entry, struct dynamic_values *values)
{
    memset(values, 0, sizeof(*values));
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag > 0 && entry->d_tag < DT_NUM)
            values->value[entry->d_tag] = entry->d_un.d_ptr;
        if (entry->d_tag == DT_GNU_HASH)
            values->gnu_hash = entry->d_un.d_ptr;
        if (entry->d_tag == DT_VERSYM)
            values->versions = entry->d_un.d_ptr;
    }
}

static int counts_read(struct dl_phdr_info *info, size_t size_bytes, void *counts)
{
    (void)size_bytes;
    *(struct object_counts *)counts = (struct object_counts){.loads = info->dlpi_adds, .unloads = info->dlpi_subs};
    return 1; /* the same in every object: stop at the first */
}

struct object_counts object_counts(void)
{
    struct object_counts counts = {0};
    dl_iterate_phdr(counts_read, &counts);
    return counts;
}

static size_t find_relocated_end(const struct object *object)
{
    size_t end = 0;
    for (size_t table = 0; table < 2; table++) {
        for (size_t i = 0; i < object->tables[table].count; i++) {
            size_t symbol = ELF64_R_SYM(object->tables[table].first[i].r_info);
            end = symbol >= end ? symbol + 1 : end;
        }
    }
    return end;
}

/* The GNU hash table lists defined symbols only and says where they begin; the
 * System V table says how many symbols there are. GNU ld writes 1 into a GNU table
 * that lists nothing, wherever the undefined symbols end: then relocations tell. So
 * they do in a program at a fixed address: GNU ld puts undefined functions among the
 * defined ones there, when the program takes their address (its jump to them has it:
 * psABI of x86-64, "Function Addresses"). */
static size_t find_undefined_end(const struct object *object)
{
    size_t end = 0;
    if (object->gnu_hash != NULL)
        end = object->gnu_hash[1];
    else if (object->plain_hash != NULL)
        end = object->plain_hash[1];
    bool is_fixed = object->base == 0;
    if (end > 1 && !is_fixed)
        return end;
    size_t relocated_end = find_relocated_end(object);
    return relocated_end > end ? relocated_end : end;
}

static struct object_relocations read_table(const struct object *object, uintptr_t address, uintptr_t size_bytes)
{
    if (address == 0)
        return (struct object_relocations){NULL, 0};
    return (struct object_relocations){absolute(object, address), size_bytes / sizeof(ElfW(Rela))};
}

/* glibc protects whole pages, and leaves the last one alone when the segment ends inside it. */
static struct range find_protected(uintptr_t low, uintptr_t high)
{
    uintptr_t mask = base_page_bytes() - 1;
    return (struct range){low & ~mask, high & ~mask};
}

static void extend(struct range *loaded, uintptr_t low, uintptr_t high)
{
    struct range segment = {low, high};
    *loaded = loaded->high == 0 ? segment : base_range_around(*loaded, segment);
}

static const ElfW(Dyn) * find_segments(const struct dl_phdr_info *info, struct object *object)
{
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)low;
        if (segment->p_type == PT_LOAD)
            extend(&object->loaded, low, low + segment->p_memsz);
        if (segment->p_type == PT_GNU_RELRO)
            object->read_only = find_protected(low, low + segment->p_memsz);
    }
    return dynamic;
}

bool object_read(const struct dl_phdr_info *info, struct object *object)
{
    struct dynamic_values values;
    *object = (struct object){.path = info->dlpi_name, .base = info->dlpi_addr};
    const ElfW(Dyn) *dynamic = find_segments(info, object);
    if (dynamic == NULL)
        return false;
    read_dynamic(dynamic, &values);
    if (values.value[DT_SYMTAB] == 0 || values.value[DT_STRTAB] == 0)
        return false;
    object->dynamic = dynamic;
    object->symbols = absolute(object, values.value[DT_SYMTAB]);
    object->strings = absolute(object, values.value[DT_STRTAB]);
    object->gnu_hash = values.gnu_hash == 0 ? NULL : absolute(object, values.gnu_hash);
    object->plain_hash = values.value[DT_HASH] == 0 ? NULL : absolute(object, values.value[DT_HASH]);
    object->versions = values.versions == 0 ? NULL : absolute(object, values.versions);
    object->soname = values.value[DT_SONAME] == 0 ? "" : object->strings + values.value[DT_SONAME];
    object->tables[0] = read_table(object, values.value[DT_RELA], values.value[DT_RELASZ]);
    object->tables[1] = read_table(object, values.value[DT_JMPREL], values.value[DT_PLTRELSZ]);
    object->undefined_end = find_undefined_end(object);
    return true;
}

/* By the linker: where this object begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool object_holds_own(const void *address)
{
    return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

bool object_is_own(const struct object *object)
{
    return object->loaded.low == (uintptr_t)__ehdr_start;
}

const char *object_file_name(const struct object *object)
{
    return base_text_file_name(object->path);
}

bool object_find_undefined(const struct object *object, object_visit_fn *visit, void *context)
{
    for (size_t i = 1; i < object->undefined_end; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        if (symbol->st_shndx == SHN_UNDEF && visit(object->strings + symbol->st_name, context))
            return true;
    }
    return false;
}

static bool visit_defined(const struct object *object, size_t index, object_visit_fn *visit, void *context)
{
    const ElfW(Sym) *symbol = &object->symbols[index];
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    return is_function && symbol->st_shndx != SHN_UNDEF && visit(object->strings + symbol->st_name, context);
}

/* The table has four numbers, a filter of address-sized words, one symbol for each bucket, and for each symbol a
 * hash, whose lowest bit ends its bucket. */
bool object_find_defined(const struct object *object, object_visit_fn *visit, void *context)
{
    enum { BUCKETS, FIRST, FILTER_WORDS, HEAD = 4, WORD = sizeof(ElfW(Addr)) / sizeof(uint32_t) };
    const uint32_t *table = object->gnu_hash;
    if (table == NULL)
        return false;
    const uint32_t *buckets = table + HEAD + (size_t)table[FILTER_WORDS] * WORD;
    const uint32_t *hashes = buckets + table[BUCKETS];
    for (uint32_t bucket = 0; bucket < table[BUCKETS]; bucket++) {
        bool is_last = buckets[bucket] < table[FIRST]; /* an empty one */
        for (uint32_t i = buckets[bucket]; !is_last; i++) {
            if (visit_defined(object, i, visit, context))
                return true;
            is_last = hashes[i - table[FIRST]] & 1;
        }
    }
    return false;
}

bool object_find_needed(const struct object *object, object_visit_fn *visit, void *context)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && visit(object->strings + entry->d_un.d_val, context))
            return true;
    return false;
}

static bool is_address_relocation(uint64_t type)
{
    return type == MACHINE_R_GLOB_DAT || type == MACHINE_R_JUMP_SLOT || type == MACHINE_R_ADDRESS;
}

static void visit_relocation(const struct object *object, const ElfW(Rela) * relocation, object_visit_fn *is_wanted,
                             object_reference_fn *visit, void *context)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    if (symbol->st_shndx != SHN_UNDEF || !is_address_relocation(ELF64_R_TYPE(relocation->r_info)))
        return;
    struct object_reference reference = {.name = object->strings + symbol->st_name,
                                         .is_weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK,
                                         .place = (uintptr_t *)(object->base + relocation->r_offset)};
    if (is_wanted(reference.name, NULL))
        visit(object, &reference, context);
}

void object_visit_references(const struct object *object, object_visit_fn *is_wanted, object_reference_fn *visit,
                             void *context)
{
    if (!object_find_undefined(object, is_wanted, NULL))
        return;
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0; i < object->tables[table].count; i++)
            visit_relocation(object, &object->tables[table].first[i], is_wanted, visit, context);
}

bool object_is_unresolved(const struct object *object, const struct object_reference *reference)
{
    return base_range_has(object->loaded, *reference->place);
}

void object_write(const struct object *object, uintptr_t *place, uintptr_t address)
{
    struct range bytes = base_range_of(place, sizeof(*place));
    struct range pages = base_pages_of(bytes);
    bool is_closed = base_ranges_overlap(bytes, object->read_only);
    void *first_page = (void *)pages.low;
    if (is_closed && mprotect(first_page, pages.high - pages.low, PROT_READ | PROT_WRITE) != 0)
        return;
    /* One store: another thread may be calling through the place. */
    __atomic_store_n(place, address, __ATOMIC_RELEASE);
    if (is_closed)
        mprotect(first_page, pages.high - pages.low, PROT_READ);
}
