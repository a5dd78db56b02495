/* SPDX-License-Identifier: MIT */
/* Whether ops are possible in this process, and why not. Who finds a reason says so here. */
#ifndef OP_SESSION_H
#define OP_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/code_list.h"
#include "base/reasons.h"

/* reason: written by the thread in MPI_Init, MPI_Finalize or fork, and by any that finds why ops are not possible any
 * more; read by all. Relaxed, as the other switches: they order nothing (between MPI_Init and another thread's first
 * call the program does); what begins beside a write may still have seen the old value.
 * hold_reason: the same, and by a thread that makes a userfaultfd.
 * sharers: code that has mapped shared memory; who judges a message asks whether all of it is MPI's. threads: code that
 * threads of the program begin with, each entered before its thread exists. size: written in MPI_Init. The rest by any
 * thread at any time, be it before MPI_Init, which asks. */
extern struct session {
    _Atomic enum reason reason;
    _Atomic enum reason hold_reason;
    _Atomic bool is_paused;
    int size;                    /* of MPI_COMM_WORLD */
    _Atomic bool has_more_peers; /* than those */
    struct base_code_list sharers;
    struct base_code_list_answer sharing; /* are there sharers beside MPI? */
    struct base_code_list threads;
    struct base_code_list_answer calling;  /* session_threads_may_call() */
    struct base_code_list_answer locking;  /* session_threads_may_lock() */
    struct base_code_list late_threads;    /* session_note_late_threads() */
    struct base_code_list_answer late;     /* session_meet_late_threads() */
    _Atomic bool notes_late_threads;       /* never cleared */
    _Atomic enum reason refused;           /* for good */
    _Atomic enum reason obstacle;          /* to holds, for good */
    _Atomic int lowest_free;               /* devices.h */
    _Atomic bool has_type_functions;       /* see session_expect_type_functions(); never cleared */
    bool allows_transports;                /* written in MPI_Init */
    _Atomic unsigned long long loads_seen; /* registrars.h */
    _Atomic unsigned long long loads_met;  /* by session_meet_loaded() */
} session;

/* REASON_NONE while ops are possible, else why every call is passed. */
static inline enum reason session_reason(void)
{
    return atomic_load_explicit(&session.reason, memory_order_relaxed);
}

/* Why no memory is held although ops may begin (by copies, on a device that moved
 * pages would confuse); REASON_NONE: it is. */
static inline enum reason session_hold_reason(void)
{
    return atomic_load_explicit(&session.hold_reason, memory_order_relaxed);
}

/* The same, after a look whether a device, or something that may be one, has come since. What was loaded has been met
 * (session_meet_loaded()). */
enum reason session_look_for_devices(void);

/* Before an op begins: a library that was loaded since may reach MPI past us, or make memory known to a device. */
void session_meet_loaded(void);

/* Before an op begins, outside the gate: MPI may have begun a thread in a call that went straight to it. By keys only
 * those that it begins inside the gate may touch what is held. */
void session_meet_late_threads(void);

/* From now on threads count for that. */
void session_note_late_threads(void);

/* As session_reason(), and REASON_PAUSED while the program has paused Lapwing: for
 * what is about to begin. What is under way goes on. */
static inline enum reason session_reason_to_begin(void)
{
    enum reason reason = session_reason();
    if (reason != REASON_NONE)
        return reason;
    /* relaxed: a switch, which orders nothing; its own thread sees its own write. */
    return atomic_load_explicit(&session.is_paused, memory_order_relaxed) ? REASON_PAUSED : REASON_NONE;
}

/* What must come after the match of a receive from a named rank? MATCHED: its return, as that of one from anybody,
 * where others could see else, without a call of this thread, that the message was not yet sent then. KEPT: all that
 * others can see later (mpi/message/message_turn.h); a third rank could notice. Once MPI runs. Not inside the gate: the
 * answer may need the loader's lock, whose owner may wait at a touch for the engine. */
enum session_order { SESSION_ORDER_FREE, SESSION_ORDER_KEPT, SESSION_ORDER_MATCHED };
enum session_order session_order(void);

/* The same for a collective that this rank receives in, until the ranks that it needs have come. */
bool session_matches_collectives_first(void);

/* Are there more processes to exchange messages with than one peer? */
bool session_has_others(void);

/* More processes than those of MPI_COMM_WORLD may speak with this one from now on. */
void session_expect_peers(void);

/* The program, or MPI, has mapped memory that other processes may see. caller: whose code it was. At any time, MPI_Init
 * or not. */
void session_share_memory(uintptr_t caller);

/* May they? */
bool session_has_more_peers(void);

/* A thread of the program's begins with this code, or libc makes it for this code; one does of which no code is known.
 * Before it exists, and at any time, MPI_Init or not. */
void session_meet_thread(uintptr_t code);
void session_meet_unknown_thread(void);

/* Are there threads of the program's, beside the first, that may call MPI or hold what it locks? Takes the loader's
 * lock. */
bool session_threads_may_call(void);

/* The same, but for OpenMP's: below MPI_THREAD_MULTIPLE it is taken that peers do not wait for them. */
bool session_threads_may_lock(void);

/* From now on nothing begins, or it may again. At any time, MPI_Init or not. */
void session_pause(bool is_paused);

/* Datatypes may have attributes from now on whose functions are the program's: it makes a key for them. For good, since
 * attributes outlive their key (MPI 4.1, 7.7.2). May one have? relaxed: a type that has one got it after this. */
void session_expect_type_functions(void);

static inline bool session_has_type_functions(void)
{
    return atomic_load_explicit(&session.has_type_functions, memory_order_relaxed);
}

/* No op begins any more, for this reason. */
void session_refuse(enum reason reason);

/* No memory is held any more, for this reason. */
void session_refuse_holds(enum reason reason);

/* Is there an engine for what is about to begin? Where the system refuses one, nothing
 * begins from then on. */
bool session_has_engine(void);

/* A part of the program reaches MPI past Lapwing from now on. At any time: what is
 * under way ends first, and the engine is out of MPI when this returns. */
void session_bypassed(void);

/* The same, where the program uses what Lapwing does not follow (bind/extension.h). Before MPI_Init, too. */
void session_extended(void);

/* The program asks by name for functions of MPI's that Lapwing does not stand before. */
void session_refuse_bypass(void);

/* The program makes a userfaultfd of its own. */
void session_meet_watcher(void);

/* It is about to set a filter of system calls. */
void session_meet_filter(void);

/* It gives memory a protection key (pkeys(7)). What a thread may do there is in a register
 * of its own, and the engine's knows nothing of the key. */
void session_meet_key(void);

/* It is about to make memory known to a device, or to a ring of io_uring. */
void session_meet_registration(void);

/* This descriptor, or one from it on, is closed or replaced: devices are looked for anew. */
void session_note_closed(unsigned descriptor);

/* --- for lifetime.c --- */

/* Memory stays where it is while it is held: RDMA devices are no obstacle from now on. What else is one? */
enum reason session_allow_transports(void);

/* From now on this is why no ops, or no holds, are possible; REASON_NONE: they are. */
void session_set(enum reason reason);
void session_set_holds(enum reason reason);

/* Processes of MPI_COMM_WORLD. */
void session_set_size(int size);

/* What session_refuse() and its kin were told, be it before MPI_Init. */
enum reason session_refused(void);

/* Looks for what forbids holds: a device, or what was met before MPI_Init. */
enum reason session_find_obstacle(void);

#endif
