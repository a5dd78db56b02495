/* SPDX-License-Identifier: MIT */
#include "op/copied.h"

#include "base/machine.h"
#include "base/object.h"
#include "op/requests.h"

static void copied_track(const struct object *object, const ElfW(Rela) * relocation)
{
    if (ELF64_R_TYPE(relocation->r_info) != MACHINE_R_COPY)
        return;
    size_t length_bytes = object->symbols[ELF64_R_SYM(relocation->r_info)].st_size;
    requests_track_region(base_range_of((const void *)(object->base + relocation->r_offset), length_bytes));
}

/* Only the program itself has copy relocations: the first object. */
static int copied_walk(struct dl_phdr_info *info, size_t size_bytes, void *unused)
{
    struct object object;
    (void)size_bytes;
    (void)unused;
    bool is_read = object_read(info, &object);
    for (size_t i = 0; is_read && i < object.tables[0].count; i++)
        copied_track(&object, &object.tables[0].first[i]);
    return 1;
}

void copied_objects_track(void)
{
    dl_iterate_phdr(copied_walk, NULL);
}
