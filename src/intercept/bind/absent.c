/* SPDX-License-Identifier: MIT */
/* Exported names that this process's MPI lacks must look absent. A program that
 * refers to MPI_Send_c weakly asks "is its address NULL?", and the preload answered
 * no before anybody knew which MPI there would be. So the answer is taken back, in
 * the places where the dynamic linker has written it: what glibc itself writes for
 * a weak reference that nobody defines is zero. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "intercept/bind/object.h"
#include "intercept/bind/state.h"
#include "intercept/bind/bind.h"
#include "intercept/machine.h"

/* First and last byte of the exported jumps (generated assembly). */
extern const char intercept_stubs_begin[];
extern const char intercept_stubs_end[];

static bool is_our_jump(uintptr_t address)
{
    return address >= (uintptr_t)intercept_stubs_begin && address < (uintptr_t)intercept_stubs_end;
}

/* Relocations that hold nothing but the address of a symbol. */
static bool is_address_relocation(uint64_t type)
{
    return type == MACHINE_R_GLOB_DAT || type == MACHINE_R_JUMP_SLOT || type == MACHINE_R_ADDRESS;
}

static bool is_absent_name(const char *name, void *context)
{
    return strncmp(name, "MPI_", 4) == 0 && bind_is_absent(name);
}

/* A place inside the segment that the linker made read-only after relocation is
 * opened for the one write. */
static void write_zero(const struct object *object, uintptr_t *place)
{
    struct range bytes = base_range_of(place, sizeof(*place));
    struct range pages = base_pages_of(bytes);
    bool is_closed = base_ranges_overlap(bytes, object->read_only);
    void *first_page = (void *)pages.low;
    if (is_closed && mprotect(first_page, pages.high - pages.low, PROT_READ | PROT_WRITE) != 0)
        return;
    *place = 0;
    if (is_closed)
        mprotect(first_page, pages.high - pages.low, PROT_READ);
}

static void hide_relocation(const struct object *object, const ElfW(Rela) * relocation)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    uintptr_t *place = (uintptr_t *)(object->base + relocation->r_offset);
    bool is_weak = symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    if (!is_weak || !is_address_relocation(ELF64_R_TYPE(relocation->r_info)))
        return;
    if (is_absent_name(object->strings + symbol->st_name, NULL) && is_our_jump(*place))
        write_zero(object, place);
}

static int hide_in_object(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct object object;
    if (!object_read(info, &object) || !object_find_undefined(&object, is_absent_name, NULL))
        return 0;
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0; i < object.tables[table].count; i++)
            hide_relocation(&object, &object.tables[table].first[i]);
    return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    *(unsigned long long *)context = info->dlpi_adds;
    return 1;
}

void intercept_bind_hide_absent_names(void)
{
    /* Objects loaded so far when this was last done; a race only repeats the work. */
    static _Atomic unsigned long long loads_seen;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    /* relaxed: nothing else is published through the number. */
    if (loads == atomic_load_explicit(&loads_seen, memory_order_relaxed) || !bind_try())
        return;
    atomic_store_explicit(&loads_seen, loads, memory_order_relaxed);
    dl_iterate_phdr(hide_in_object, NULL);
}

/* At load every relocation of the program and its libraries is done. */
__attribute__((constructor)) static void hide_at_load(void)
{
    intercept_bind_hide_absent_names();
}
