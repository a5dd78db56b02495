/* SPDX-License-Identifier: MIT */
/* What op asks of the rooms above it: libc's entries know the program's heap, its threads and its
 * handlers, and bind what was loaded. One table, constant, from lib/wiring.c; a test brings its own. Any thread;
 * nothing here is for signal context. */
#ifndef OP_HOST_H
#define OP_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "base/reasons.h"

struct host {
    /* MPI is being set up: from here on the program's threads are followed, and forks wait. */
    void (*watch)(void);

    /* Memory for Lapwing itself, apart from the program's heap. Whole pages, zero; NULL: none. Never
     * waits for ops, so locks may be held. */
    void *(*memory_take)(size_t length_bytes);
    void (*memory_give_back)(void *memory, size_t length_bytes);

    /* REASON_NONE when nobody uses the rest of these bytes' pages who cannot wait (the kernel, threads, handlers), and
     * no small block of the heap lies there. *are_alone: there is no rest. has_gaps: not all bytes are the buffer's. */
    enum reason (*pages_check)(struct range bytes, bool has_gaps, bool *are_alone);
    /* Is there nothing beside these bytes on their pages? */
    bool (*pages_are_filled)(struct range bytes);
    /* May other blocks of the heap lie on the first or last page of these bytes? */
    bool (*pages_are_heap)(struct range bytes);
    /* Do these pages hold what a thread cannot do without: its stack, its thread-local variables? */
    bool (*thread_owns)(struct range pages);

    /* Has the program started a thread of its own? */
    bool (*threads_are_several)(void);
    /* Changes what was loaded since the last time, as all objects were when MPI was set up. */
    void (*objects_adjust)(void);
    /* Does code lie in a library that carries messages? In one of MPI's, or below it? In one whose own threads call
     * nothing of the program's? The same, or in a runtime whose threads share out the work of a call of the program's?
     * Take the loader's lock. */
    bool (*code_is_of_transport)(uintptr_t code);
    bool (*code_is_of_mpi)(uintptr_t code);
    bool (*code_never_calls)(uintptr_t code);
    bool (*code_is_of_team)(uintptr_t code);
    /* Has the program a handler for signals that come at any time? */
    bool (*has_handlers)(void);
};

extern const struct host host;

#endif
