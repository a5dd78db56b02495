/* SPDX-License-Identifier: MIT */
/* Which MPI library this process has, and the backend that speaks its ABI. The
 * exported MPI_* functions are jumps through slots; the first call through any
 * of them binds, so a launcher need not know what a script or an interpreter
 * will load. Any thread; not for signal context. */
#ifndef BIND_BIND_H
#define BIND_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One per ABI, made by mpi/generate.py; an index is a name's in names_mpi. */
struct bind_backend {
    const char *abi;
    bool (*prepare)(void *library);     /* false: not the library that it looked like */
    void *(*entry_at)(size_t index);    /* NULL: the program reaches MPI's own function */
    void *(*measured_at)(size_t index); /* stand before the entries while a profile is wanted; NULL: nothing does */
    void *real;                         /* struct real of that ABI */
};

/* Of the function with this number in all tables. */
const char *bind_function_name(uint32_t index);

/* Path of the MPI library; "" before the first MPI call. */
const char *bind_library_path(void);

/* A symbol of the MPI library, inner ones included, past whoever defines it, too; NULL: none. Once it is bound. */
void *bind_library_symbol(const char *name);

/* True for MPI functions of the table that this process has; false for all while no
 * MPI library is loaded. */
bool bind_offers(const char *name);

/* Does some part of the program reach MPI without passing Lapwing? Then `text` says how. Looks at what is loaded now:
 * MPI_Init is a good moment. */
bool bind_bypass(char *text, size_t text_bytes);

/* True for ways into MPI that pass no entry of ours: PMPI_X, and functions of this process's MPI library
 * that mpi/functions.toml lacks (of a later release, say), where they have no entry either. */
bool bind_bypass_is_name(const char *name);

/* Our entry for MPI_X; NULL: none. Does who calls this function by that name go past it, to MPI or to a tool? And does
 * a tool that defines MPI_X itself come between our entry and MPI? */
const void *bind_entry(const char *name);
bool bind_is_past_entry(const char *name, const void *function);
bool bind_is_followed_by_tool(const char *name);

/* The entry of a function that mpi/functions.toml lacks (bind/unknown.c); NULL: none. And is this the MPI library's
 * function behind it? */
const void *bind_unknown_entry(const char *name);
bool bind_unknown_is_behind(const char *name, const void *function);

/* Changes what the dynamic linker wrote into the objects loaded since the last time:
 * weak references to MPI functions that this process's MPI lacks become NULL, as
 * they would be without Lapwing; the calls of MPI's Fortran bindings come to us, and
 * those of functions that Lapwing does not know. Does nothing before an MPI library
 * is loaded. After each dlopen(). */
void bind_adjust_objects(void);

/* The program is about to open this library (NULL: itself) with RTLD_DEEPBIND. */
void bind_adjust_deep(const char *path);

/* In the child after fork: a thread that was binding does not exist there, and who comes next begins anew. */
void bind_forked_child(void);

#endif
