/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The entry of getdents64(2), for which glibc 2.28 has no type. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t length_bytes;
    uint8_t type;
    char name[];
};

static void entries_visit(const char *entries, long length_bytes, base_folder_visit_fn *visit, void *context)
{
    for (long at = 0; at < length_bytes;) {
        const struct entry *entry = (const void *)(entries + at);
        if (entry->name[0] >= '0' && entry->name[0] <= '9')
            visit(entry->name, context);
        at += entry->length_bytes;
    }
}

bool base_folder_visit_numbers(int folder, base_folder_visit_fn *visit, void *context)
{
    _Alignas(struct entry) char entries[2048];
    long length_bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    for (; length_bytes > 0; length_bytes = syscall(SYS_getdents64, folder, entries, sizeof entries))
        entries_visit(entries, length_bytes, visit, context);
    return length_bytes == 0;
}
