/* SPDX-License-Identifier: MIT */
/* The MPI library of this process. */
#ifndef BIND_LIBRARY_H
#define BIND_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum library_abi { LIBRARY_UNKNOWN, LIBRARY_OPENMPI, LIBRARY_MPICH, LIBRARY_STANDARD };

struct library {
    void *handle;
    uintptr_t base; /* where it is loaded */
    enum library_abi abi;
    char path[PATH_MAX];
};

/* Looks for it among the objects that are loaded now. */
bool library_find(struct library *library);

#endif
