/* SPDX-License-Identifier: MIT */
/* What Lapwing knows of this process between MPI_Init and MPI_Finalize, and
 * whether ops are possible in it. Starts and stops the layers. */
#ifndef OP_SESSION_H
#define OP_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/reasons.h"

/* What the program's MPI library says right after its initialisation. */
struct session_facts {
    const char *abi;
    int rank;
    int size;
    bool is_spawned;      /* its parents are in another MPI_COMM_WORLD */
    int provided_ordinal; /* thread level, 0 (single) to 3 (multiple) */
    void (*poke)(void);   /* lets MPI progress */
};

/* After MPI_Init: probes the holds, configures engine, policy, record. */
void session_start(const struct session_facts *facts);

/* REASON_NONE while ops are possible, else why every call is passed. */
static inline enum reason session_reason(void)
{
    extern _Atomic enum reason session_state;
    return atomic_load_explicit(&session_state, memory_order_relaxed); /* a switch (session.c) */
}

/* Why no memory is held although ops may begin (by copies, on a device that moved
 * pages would confuse); REASON_NONE: it is. */
static inline enum reason session_hold_reason(void)
{
    extern _Atomic enum reason session_hold_state;
    return atomic_load_explicit(&session_hold_state, memory_order_relaxed); /* a switch (session.c) */
}

/* The same, after a look whether a device, or something that may be one, has come since. */
enum reason session_look_for_devices(void);

/* As session_reason(), and REASON_PAUSED while the program has paused Lapwing: for
 * what is about to begin. What is under way goes on. */
static inline enum reason session_reason_to_begin(void)
{
    extern _Atomic bool session_is_paused;
    enum reason reason = session_reason();
    if (reason != REASON_NONE)
        return reason;
    /* relaxed: a switch, which orders nothing; its own thread sees its own write. */
    return atomic_load_explicit(&session_is_paused, memory_order_relaxed) ? REASON_PAUSED : REASON_NONE;
}

/* Must a receive from a named rank wait until its message is matched, as one from
 * anybody must? A third rank, or another thread of this one under MPI_THREAD_MULTIPLE,
 * could see else that the message was not yet sent when the receive returned. Once MPI
 * runs. */
bool session_matches_first(void);

/* More processes than those of MPI_COMM_WORLD may speak with this one from now on. */
void session_expect_peers(void);

/* May they? */
bool session_has_more_peers(void);

/* From now on nothing begins, or it may again. At any time, MPI_Init or not. */
void session_pause(bool is_paused);

/* No op begins any more, for this reason. */
void session_refuse(enum reason reason);

/* No memory is held any more, for this reason. */
void session_refuse_holds(enum reason reason);

/* Is there an engine for what is about to begin? Where the system refuses one, nothing
 * begins from then on. */
bool session_has_engine(void);

/* Before MPI_Finalize: waits for all ops, ends the engine, writes the record. */
void session_stop(void);

/* MPI_Abort: no op is waited for any more. */
void session_abort(void);

/* A part of the program reaches MPI past Lapwing from now on. At any time: what is
 * under way ends first, and the engine is out of MPI when this returns. */
void session_bypassed(void);

/* The same, where the program uses what Lapwing does not follow (bind/extension.h). Before MPI_Init, too. */
void session_extended(void);

/* Hooks of libc's entries (libc/process.h). */
void intercept_process_forked(void);
void intercept_process_exiting(void);

#endif
