/* SPDX-License-Identifier: MIT */
/* Finds names in loaded objects by the hash tables that these carry (DT_GNU_HASH: binutils, bfd/elflink.c; glibc,
 * elf/dl-lookup.c). Takes no lock and allocates nothing, in contrast to dlsym(), and costs a tenth of it. */
#ifndef BASE_SYMBOL_H
#define BASE_SYMBOL_H

#include <link.h>
#include <stdint.h>

#include "base/object.h"

struct symbol_name {
    const char *text;
    uint32_t hash;
};

struct symbol_name symbol_name_of(const char *text);

/* The definition that dlsym() would take from this object: of several versions the default one. NULL: none. */
const ElfW(Sym) * symbol_find(const struct object *object, const struct symbol_name *name);

/* Where the symbol's code or data begin; NULL for one that only the dynamic linker can place (STT_GNU_IFUNC, TLS). */
void *symbol_address(const struct object *object, const ElfW(Sym) * symbol);

#endif
