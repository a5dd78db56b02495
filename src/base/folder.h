/* SPDX-License-Identifier: MIT */
/* Folders of /proc and /sys. By system calls: libc's functions are the program's, and wait for messages; and they take
 * memory from its heap. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

typedef void base_folder_visit_fn(const char *name, void *context);

/* Opens one, to be closed by close(2); -1 where that cannot be. */
int base_folder_open(const char *path);

/* Calls `visit` for each entry of an open folder, "." and ".." included. False: not all could be read. */
bool base_folder_visit(int folder, base_folder_visit_fn *visit, void *context);

/* Calls `visit` for each entry of an open folder whose name is a number: a process, a thread or a descriptor. False:
 * not all could be read. */
bool base_folder_visit_numbers(int folder, base_folder_visit_fn *visit, void *context);

/* What one read(2) gives of a file in an open folder, or AT_FDCWD, as text; empty where it gives nothing. */
void base_folder_read(int folder, const char *path, char *text, size_t text_bytes);

#endif
