/* SPDX-License-Identifier: MIT */
/* The MPI library of this process. */
#ifndef BIND_LIBRARY_H
#define BIND_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct bind_backend;

/* A row of mpi/abis.toml, by which a library's ABI is told. */
struct library_abi {
    char soname_begins[32];
    char soname_ends[32];
    char symbol[32];             /* "": none */
    bool all_fortran_calls_pmpi; /* false: the bindings of mpi_f08 alone do */
    const struct bind_backend *backend;
};

/* Made by mpi/generate.py; the first that fits is right. */
extern const struct library_abi library_abis[];
extern const size_t library_abis_count;

struct library {
    void *handle;
    uintptr_t base;                /* where it is loaded */
    struct range loaded;           /* all of it, once bound */
    const struct library_abi *abi; /* NULL: one that Lapwing does not know */
    char path[PATH_MAX];
};

/* Looks for it among the objects that are loaded now. */
bool library_find(struct library *library);

#endif
