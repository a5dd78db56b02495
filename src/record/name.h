/* SPDX-License-Identifier: MIT */
/* The names of the files that ranks leave in the job's folder. */
#ifndef RECORD_NAME_H
#define RECORD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The folder where this process may leave its record: $LAPWING_RECORD_DIR, unless the process has other rights than its
 * user (secure_getenv(3)) or the folder is another user's, who could then choose what this process writes, and where.
 * NULL: none. */
const char *record_name_folder(void);

/* <directory>/<host>-<boot>-<namespace>.<kind>: one file for all ranks of a host. Host names alone are not enough:
 * containers, on several hosts or on one, may have one name. So the name holds what the kernel calls this boot, and the
 * number of the UTS namespace. False when the name is too long, or one of them unknown. */
bool record_name_of_host(char *name, size_t name_bytes, const char *directory, const char *kind);

/* <directory>/<host>-<pid>-<rank>-<time>.<kind>. Host and process number are not enough: ranks in containers may have
 * both alike (PID namespaces, fixed host names), and their number in the job is another's in a spawned one. False when
 * the name is too long. */
bool record_name_make(char *name, size_t name_bytes, const char *directory, int rank, const char *kind);

#endif
