/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include <stdint.h>
#include <string.h>
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

typedef bool entry_test_fn(const char *name);

static bool entry_is_number(const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

static bool entry_is_other(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool entries_visit(int folder, entry_test_fn *is_wanted, base_folder_visit_fn *visit, void *context)
{
    _Alignas(struct entry) char entries[2048];
    long length_bytes;
    while ((length_bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < length_bytes;) {
            const struct entry *entry = (const void *)(entries + at);
            if (is_wanted(entry->name))
                visit(entry->name, context);
            at += entry->length_bytes;
        }
    return length_bytes == 0;
}

bool base_folder_visit(int folder, base_folder_visit_fn *visit, void *context)
{
    return entries_visit(folder, entry_is_other, visit, context);
}

bool base_folder_visit_numbers(int folder, base_folder_visit_fn *visit, void *context)
{
    return entries_visit(folder, entry_is_number, visit, context);
}
