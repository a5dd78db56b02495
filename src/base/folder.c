/* SPDX-License-Identifier: MIT */
#include "base/folder.h"

#include <fcntl.h>
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

static bool entry_is_number(const struct entry *entry)
{
    return entry->name[0] >= '0' && entry->name[0] <= '9';
}

static void entries_visit(const char *entries, long length_bytes, bool are_numbers, base_folder_visit_fn *visit,
                          void *context)
{
    for (long at = 0; at < length_bytes;) {
        const struct entry *entry = (const void *)(entries + at);
        if (!are_numbers || entry_is_number(entry))
            visit(entry->name, context);
        at += entry->length_bytes;
    }
}

static bool folder_visit(int folder, bool are_numbers, base_folder_visit_fn *visit, void *context)
{
    _Alignas(struct entry) char entries[2048];
    long length_bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    for (; length_bytes > 0; length_bytes = syscall(SYS_getdents64, folder, entries, sizeof entries))
        entries_visit(entries, length_bytes, are_numbers, visit, context);
    return length_bytes == 0;
}

int base_folder_open(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

bool base_folder_visit(int folder, base_folder_visit_fn *visit, void *context)
{
    return folder_visit(folder, false, visit, context);
}

bool base_folder_visit_numbers(int folder, base_folder_visit_fn *visit, void *context)
{
    return folder_visit(folder, true, visit, context);
}

void base_folder_read(int folder, const char *path, char *text, size_t text_bytes)
{
    int file = (int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC, 0);
    long length_bytes = file < 0 ? 0 : syscall(SYS_read, file, text, text_bytes - 1);
    text[length_bytes > 0 ? length_bytes : 0] = '\0';
    if (file >= 0)
        syscall(SYS_close, file);
}
