/* SPDX-License-Identifier: MIT */
/* What kind of memory lies at an address: the kernel's list of mappings. */
#ifndef PROTECT_MEMORY_H
#define PROTECT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/reasons.h"

enum memory_mapping_name { MAPPING_PLAIN, MAPPING_HEAP, MAPPING_STACK, MAPPING_OTHER };

struct memory_mapping {
    struct range range;
    bool is_readable;
    bool is_writable;
    bool is_executable;
    bool is_shared;
    bool is_file;
    bool has_huge_pages; /* of hugetlbfs; not transparent ones */
    enum memory_mapping_name name;
};

void memory_start(void);
void memory_stop(void);

/* The mapping that holds the address. False when there is none. */
bool memory_mapping_find(uintptr_t address, struct memory_mapping *mapping);

/* protect_memory_check(), of a backend that sets pages' rights, or does not. */
enum reason memory_check(struct range bytes, bool sets_rights);

/* True when the pages of `bytes` may lie in the brk heap or in a thread's arena, where small blocks of
 * anybody, MPI included, share pages with large ones. As costly as the check. */
bool memory_is_heap(struct range bytes);

/* True in the data of a program or library. */
bool memory_is_variable(struct range bytes);

/* One line of /proc/self/maps. False when it is not one. */
bool memory_line_parse(const char *line, struct memory_mapping *mapping);

#endif
