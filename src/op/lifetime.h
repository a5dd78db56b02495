/* SPDX-License-Identifier: MIT */
/* Lapwing between MPI_Init and the end of the process: starts and stops the layers, and writes the
 * record. */
#ifndef OP_LIFETIME_H
#define OP_LIFETIME_H

#include <stdbool.h>
#include <stddef.h>

/* What the program's MPI library says right after its initialisation, and what is known of it. */
struct lifetime_facts {
    const char *abi;
    const char *mpi_library; /* its path */
    const char *launch;      /* what the launcher calls those that it started together; "": nothing */
    int rank;
    int size;
    bool is_spawned;        /* its parents are in another MPI_COMM_WORLD */
    int provided_ordinal;   /* thread level, 0 (single) to 3 (multiple) */
    void (*progress)(void); /* lets MPI progress */
    /* Does a part of the program reach MPI past Lapwing? Then `text` says how. */
    bool (*find_bypass)(char *text, size_t text_bytes);
    bool (*is_finalized)(void); /* is MPI? Takes no lock */
};

/* Before MPI_Init, and before its entry is inside the gate. */
void lifetime_prepare(void);

/* After MPI_Init: probes the holds, configures engine, policy, record. */
void lifetime_start(const struct lifetime_facts *facts);

/* Before MPI_Finalize: waits for all ops, ends the engine, writes the record. */
void lifetime_stop(void);

/* MPI_Abort: no op is waited for any more. It has returned: they are again. */
void lifetime_abort(void);
void lifetime_abort_failed(void);

/* In the child after fork, before fork() returns there. The child has one thread and must
 * not use what the others may have locked. */
void lifetime_forked_child(void);

/* The process is about to end, by exit(), _exit(), quick_exit() or the return of main.
 * Called once per process, in exit()'s case before the program's own atexit handlers.
 * _exit() is allowed in signal handlers: must not wait for a lock that this very thread
 * may hold. */
void lifetime_exit(void);

#endif
