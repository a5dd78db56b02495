/* SPDX-License-Identifier: MIT */
/* The protect layer: memory that the program must not touch yet.
 *
 * A hold covers the whole pages of a buffer. A no-write hold (send buffers)
 * lets everybody read; a no-access hold (receive buffers) moves the pages to
 * the transit range, where MPI writes, and lets nobody in at the buffer's own
 * address. One with copies on touch (send buffers that are written while they are
 * sent) moves them, too, and lets everybody in: to a copy of the page. A thread
 * that touches a hold otherwise waits, in the kernel (userfaultfd) or
 * in the SIGSEGV handler (signal), until the hold is released. A touch is
 * reported once through `touched`.
 *
 * By protection keys nothing moves: who is inside MPI has the right to touch a hold.
 *
 * Three backends behind this interface: see backend.h. */
#ifndef PROTECT_PROTECT_H
#define PROTECT_PROTECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "base/range.h"
#include "base/reasons.h"
#include "base/rights.h"
#include "protect/armed.h"
#include "protect/hold.h"

/* Probes the backends in the order that `choice` allows and keeps the first
 * that works. False when none does: then nothing may be held. Once per process,
 * from one thread. */
bool protect_start(enum option_hold choice, protect_hold_touched_fn *touched);

/* For watches (watch.h), by the signal backend. A backend that holds memory has been started before, and stopped. */
bool protect_start_watches(void);

/* Before MPI starts threads of its own, which inherit the rights of whoever is inside MPI: takes protection keys. All
 * zero where there are none. */
struct base_rights protect_take_keys(void);

/* Has it taken any? */
bool protect_has_keys(void);

/* Once it is known what holds: keys that do not are given back. */
void protect_settle_keys(void);

/* What the backend in use makes of them; nothing, but for keys. */
struct base_rights protect_rights(void);

/* True when pages stay where they are while they are held (keys). */
bool protect_holds_in_place(void);

/* Name of the backend in use: "userfaultfd", "userfaultfd-user", "signal", "keys", "none". */
const char *protect_backend_name(void);

/* True when a system call on held memory fails with EFAULT instead of waiting
 * (all but userfaultfd). */
bool protect_system_calls_fail(void);

/* The same of the backend that protect_start() chose, be it stopped: what a run would do, in a profile. */
bool protect_held_calls_fail(void);

/* True when system calls must wait for memory before they are made: also now for holds with copies on touch. A device
 * that writes by itself (O_DIRECT) into a copy would miss the pages that come home. */
bool protect_system_calls_must_wait(void);

/* True when holds change the rights of pages (signal, keys): afterwards they are
 * readable and writable, whatever else they were. */
bool protect_sets_rights(void);

/* Can the pages of `bytes` be held at all? Private, anonymous, writable, one
 * mapping, no stack; not executable where protect_sets_rights(). REASON_NONE when so. About 1 us where the kernel has
 * PROCMAP_QUERY, a read of /proc/self/maps elsewhere, then 2 us for each MiB of the same bytes. */
enum reason protect_memory_check(struct range bytes);

/* The same for a hold: REASON_MEMORY_LOCKED, too, for what the program has locked (locked.h), and
 * REASON_MEMORY_LIMITED where pages that are closed might not be opened again (RLIMIT_DATA). */
enum reason protect_memory_check_to_hold(struct range bytes);

/* The same for a watch, which moves nothing: REASON_MEMORY_LIMITED as well. */
enum reason protect_memory_check_to_watch(struct range bytes);

/* May pages that end who reads them lie in memory that these checks find nothing wrong with? Guard regions
 * (MADV_GUARD_INSTALL, Linux 6.13) do not show in the list of mappings. */
bool protect_may_hide_guards(void);

/* Whether other threads of the program may touch the neighbours of a buffer in
 * its first and last page while a receive is being armed. True at start; false
 * saves 10 to 20 us per receive whose buffer does not fill its pages. */
void protect_threads_set(bool several);

/* Can this backend hold with copies on touch? Only what nobody but the program reads. */
bool protect_copies_touched(void);

/* A descriptor that becomes readable when a touch waits in the kernel, or -1. See
 * protect_hold_events_read(). */
int protect_event_descriptor(void);

/* The SIGSEGV disposition as the program sees it (signal and keys only): what
 * sigaction() would do without Lapwing. Returns 0 or an errno value. When the
 * backend does not use SIGSEGV, returns ENOSYS and the caller passes on. */
struct sigaction;
int protect_signal_disposition(const struct sigaction *new_action, struct sigaction *old_action);

/* The calling thread unblocks SIGSEGV, which it may have blocked by being in its handler. */
void protect_signal_opens(void);

/* Around a fork: from begin to end nothing can be armed, so that what has been waited
 * for is in its place in the child. */
void protect_fork_begin(void);
void protect_fork_end(void);

/* In the child after fork: no backend, no holds but lost ones (HOLD_LOST). */
void protect_inherit(void);

/* Ends the backend; all holds are released before. */
void protect_stop(void);

#endif
