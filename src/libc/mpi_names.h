/* SPDX-License-Identifier: MIT */
/* What libc's entries ask of the binding, beside which they stand: a library that is loaded or looked
 * into may be MPI's, or may want what MPI has. One table, constant, from lib/wiring.c. */
#ifndef LIBC_MPI_NAMES_H
#define LIBC_MPI_NAMES_H

#include <stdbool.h>

struct mpi_names {
    /* Objects may have been loaded since the last time. */
    void (*objects_adjust)(void);
    /* True for MPI functions of the table that this process has. */
    bool (*are_offered)(const char *name);
    /* True for ways into MPI that pass no entry of ours. */
    bool (*are_unseen)(const char *name);
    /* Our entry for a function of the MPI library's that the table lacks; NULL: none. And is this the function itself?
     */
    const void *(*unknown_entry)(const char *name);
    bool (*is_unknown)(const char *name, const void *function);
    /* Our entry for a function of the table; NULL: none. Does this function, found by that name, lead past it? And
     * would our entry lead to a tool's function? */
    const void *(*entry)(const char *name);
    bool (*is_past_entry)(const char *name, const void *function);
    bool (*are_followed)(const char *name);
    /* A library is about to be opened with RTLD_DEEPBIND. */
    void (*opens_deep)(const char *path);
    /* In the child after fork. */
    void (*forked_child)(void);
};

extern const struct mpi_names mpi_names;

#endif
