/* SPDX-License-Identifier: MIT */
/* What the files of this folder share about the binding. */
#ifndef BIND_STATE_H
#define BIND_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "bind/library.h"

/* What bind_adjust_objects() has looked at. Objects come at the end of the dynamic linker's list
 * (_dl_add_to_namespace_list() in glibc, elf/dl-object.c), so that what was loaded since a walk is at most as many
 * objects at the end as there were loads since. Without this a program that opens a hundred libraries would look at
 * five thousand, and Open MPI's start, which opens and closes its components, at a thousand. The walk before counts,
 * not the last one, since another thread may have been loading what was seen. It belongs to who holds the linker's
 * lock, as callbacks of dl_iterate_phdr() do, but for what any thread writes. */
struct bind_state_seen {
    unsigned long long walked; /* loads at the last walk */
    unsigned long long walked_before;
    _Atomic unsigned long long loads; /* when objects were last adjusted; any thread */
    _Atomic unsigned long long deep;  /* when the program first used RTLD_DEEPBIND, and 1; 0: never. Any thread */
};
struct bind_state_seen *bind_state_seen(void);

/* Binds unless that is done; false when no MPI library is loaded, or while this thread binds. */
bool bind_try(void);

/* The same for who may have the dynamic linker's lock, as constructors of libraries do: it does not wait for another
 * thread that binds, and so may be waiting for that lock. */
enum bind_state { BIND_DONE, BIND_NOT_YET, BIND_BY_ANOTHER };
enum bind_state bind_try_at_once(void);

/* The rest once bind_try() has returned true. */

/* True for MPI functions of the table that this process's MPI lacks. */
bool bind_is_absent(const char *name);

/* Do all of this MPI's Fortran bindings call PMPI_X, rather than those of mpi_f08 alone? */
bool bind_all_fortran_calls_pmpi(void);

/* Where a call of the name with that index goes past our entry: MPI's own function, or the tool's. Behind the
 * table's indices come those of the functions that it lacks. */
void *bind_next(size_t index);

/* Any that does so for some function. */
bool bind_has_tool(void);

/* A function of which this object has the tool, and in place of which we may call others, or the reverse: the tool
 * would miss calls of the program, or see ours. NULL: none. */
struct object;
const char *bind_tool_function(const struct object *object);

/* True for functions of the table, whether this process's MPI has them or not. */
bool bind_is_listed(const char *name);

/* Compares the functions that the MPI library exports with the table. Called once, by who binds. */
void bind_unknown_collect(const struct library *library);

/* True for those that the table lacks and that have no entry either. No look-up: inside a walk over objects, too. */
bool bind_unknown_lacks_entry(const char *name);

/* The MPI library's own function, by its number among those that the table lacks. */
void *bind_unknown_next(size_t index);

/* Does its part of bind_adjust_objects(): references to functions that the table lacks lead to their
 * entries. */
void bind_unknown_redirect(const struct object *object);

/* Does an object of the program's call what bind_bypass_is_name() says? */
bool bind_bypass_has_calls(const struct object *object);

/* Was it opened with RTLD_DEEPBIND, so that its calls find MPI's functions, not our entries? Seen where the dynamic
 * linker has filled its places; where it has not, any object that `may_be` counts. */
bool bind_bypass_is_deep(const struct object *object, bool may_be);

/* Does its part of bind_adjust_objects(): references to names that this
 * MPI lacks become NULL. */
void bind_absent_hide(const struct object *object);

#endif
