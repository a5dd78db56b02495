/* SPDX-License-Identifier: MIT */
/* A function of the C++ bindings that Open MPI had until 4.1, for programs in C. */
#ifndef CXX_BINDINGS_H
#define CXX_BINDINGS_H

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

/* Other versions have none, and an Open MPI that has may be installed beside. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
static const char cxx_bindings_name[] = "libmpi_cxx.so.40";
#else
static const char cxx_bindings_name[] = "";
#endif

/* name: as C++ links it. NULL where this MPI has no such bindings. */
static inline void *cxx_bindings_find(const char *name)
{
    void *library = *cxx_bindings_name == 0 ? NULL : dlopen(cxx_bindings_name, RTLD_NOW);
    return library == NULL ? NULL : dlsym(library, name);
}

#endif
