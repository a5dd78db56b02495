/* SPDX-License-Identifier: MIT */
#include "op/copied.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>

#include "base/machine.h"
#include "op/requests.h"

struct dynamic_tables {
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * relocations;
    size_t relocation_bytes;
};

static struct dynamic_tables dynamic_tables_of(const ElfW(Dyn) * entry)
{
    struct dynamic_tables tables = {NULL, NULL, 0};
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = (const void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELA)
            tables.relocations = (const void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELASZ)
            tables.relocation_bytes = entry->d_un.d_val;
    }
    return tables;
}

static void copied_track(const ElfW(Rela) * relocation, const ElfW(Sym) * symbols, uintptr_t base)
{
    if (ELF64_R_TYPE(relocation->r_info) != MACHINE_R_COPY)
        return;
    size_t length_bytes = symbols[ELF64_R_SYM(relocation->r_info)].st_size;
    requests_track_region(base_range_of((const void *)(base + relocation->r_offset), length_bytes));
}

/* Only the program itself has copy relocations: the first object. */
static int copied_walk(struct dl_phdr_info *object, size_t size, void *unused)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        struct dynamic_tables tables =
            dynamic_tables_of((const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
        for (size_t n = 0; tables.symbols != NULL && n < tables.relocation_bytes / sizeof(ElfW(Rela)); n++)
            copied_track(&tables.relocations[n], tables.symbols, object->dlpi_addr);
    }
    return 1;
}

void copied_objects_track(void)
{
    dl_iterate_phdr(copied_walk, NULL);
}
