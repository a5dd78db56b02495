/* SPDX-License-Identifier: MIT */
/* A file that the processes of one host share, and map in pieces (profile_format.h). Whoever needs it first makes it.
 */
#ifndef RECORD_PIECES_H
#define RECORD_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/profile_format.h"

/* process: which pieces are this one's. path, part: one name for all, and one to make the file under; not on the stack,
 * for which they are long. */
struct pieces {
    int descriptor;
    uint32_t process;
    struct profile_format_directory *directory;
    char path[4096];
    char part[4096];
};

/* Opens the file of this host in a folder of the user's own (record/name.h), and maps the first `count` pieces. Where
 * that file has no room for them and some more: one of the process's own. If not even that takes them it gets one
 * piece. How many were mapped; 0: no file can be had. */
uint32_t pieces_open(struct pieces *pieces, const char *directory, int rank, void *address, uint32_t count);

/* Maps `count` new pieces, blank, at an address that has been set aside. Their room on the disk is there before: a
 * mapped page without it is a SIGBUS. False when they cannot be had. On a full disk their numbers are lost then, for
 * all processes of the host: whoever was refused must not ask again. */
bool pieces_map(const struct pieces *pieces, void *address, uint32_t count);

/* What is mapped stays so. */
void pieces_close(struct pieces *pieces);

#endif
