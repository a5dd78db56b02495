/* SPDX-License-Identifier: MIT */
/* Entries that change what happens at a signal. Where the protect layer needs
 * SIGSEGV for itself, the program is shown the disposition it would see without
 * Lapwing; every other signal, and every other backend, is passed on. */
#include "libc/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/signal_set.h"
#include "engine/gate.h"
#include "libc/owner.h"
#include "libc/real.h"
#include "libc/runtime.h"
#include "libc/use.h"
#include "op/transfer.h"
#include "protect/protect.h"

/* is_watching: set by libc_signals_watch(), never cleared: before, dispositions are libc's alone.
 * have_handlers: set by whoever installs a handler, never cleared: it may have run and left.
 * closing: a bit for each signal whose handler is to block SIGSEGV, as the program said and the kernel was not told;
 * by whoever sets one, relaxed: two threads that set the same signal race without us, too. */
static struct {
    _Atomic bool is_watching;
    _Atomic bool have_handlers;
    _Atomic uint64_t closing;
} signals;

bool libc_signals_have_handlers(void)
{
    return atomic_load_explicit(&signals.have_handlers, memory_order_relaxed);
}

/* Those that a thread brings about itself, by an instruction or abort(), do not come inside MPI. */
static bool signal_comes_any_time(int number)
{
    return number >= 1 && number < NSIG && (base_signal_set_deferrable() >> (number - 1) & 1) != 0;
}

/* relaxed: a switch; a handler set beside it is found in the kernel's list. */
static bool signals_are_watched(void)
{
    return atomic_load_explicit(&signals.is_watching, memory_order_relaxed);
}

static void handler_note(int number, sighandler_t handler)
{
    if (!signals_are_watched())
        return;
    bool is_handler = handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD;
    if (!is_handler || !signal_comes_any_time(number) || gate_is_inside())
        return;
    /* Every program of their kind has those of runtimes: UCX and libfabric end with a backtrace,
     * gfortran's and Python's note the number in memory of their own. */
    if (libc_signals_have_handlers() || libc_runtime_is_any((uintptr_t)handler))
        return;
    gate_defer_signals();
    atomic_store_explicit(&signals.have_handlers, true, memory_order_relaxed);
    libc_use_tells();      /* from now on receives are matched first (op/session.c) */
    transfer_let_go_all(); /* the handler may touch what lies beside them, inside MPI */
}

static bool signals_are_shared(int number)
{
    return number == SIGSEGV && protect_signal_disposition(NULL, NULL) != ENOSYS;
}

/* A child of vfork() has dispositions of its own in the kernel, but its parent's memory. */
static bool dispositions_are_shared(int number)
{
    return signals_are_shared(number) && libc_owner_is_here();
}

static int disposition_change(const struct sigaction *new_action, struct sigaction *old_action)
{
    int saved_errno = errno;
    int error = protect_signal_disposition(new_action, old_action);
    errno = error ? error : saved_errno;
    return error ? -1 : 0;
}

static sighandler_t handler_change(sighandler_t handler, int flags)
{
    struct sigaction old_action;
    struct sigaction new_action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&new_action.sa_mask);
    if (flags & SA_RESTART)
        sigaddset(&new_action.sa_mask, SIGSEGV); /* as libc's BSD signal() does */
    if (disposition_change(&new_action, &old_action))
        return SIG_ERR;
    return old_action.sa_handler;
}

static void mask_note(int number, bool is_closing)
{
    if (is_closing)
        atomic_fetch_or_explicit(&signals.closing, base_signal_set_of(number), memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&signals.closing, ~base_signal_set_of(number), memory_order_relaxed);
}

/* The mask as the program has set it. */
static void mask_tell(int number, struct sigaction *action)
{
    if (action != NULL &&
        (atomic_load_explicit(&signals.closing, memory_order_relaxed) & base_signal_set_of(number)) != 0)
        sigaddset(&action->sa_mask, SIGSEGV);
}

/* A handler that blocks SIGSEGV while it runs could not wait at a touch: the
 * kernel would end the process. */
static int action_set_open(int number, const struct sigaction *action, struct sigaction *old_action)
{
    bool is_closing = sigismember(&action->sa_mask, SIGSEGV) == 1;
    struct sigaction opened = *action;
    sigdelset(&opened.sa_mask, SIGSEGV);
    int result = LIBC_REAL(sigaction)(number, &opened, old_action);
    if (result == 0) {
        mask_tell(number, old_action);
        mask_note(number, is_closing);
    }
    return result;
}

static int action_query(int number, struct sigaction *action)
{
    int result = LIBC_REAL(sigaction)(number, NULL, action);
    if (result == 0)
        mask_tell(number, action);
    return result;
}

int libc_entry_sigaction(int number, const struct sigaction *new_action, struct sigaction *old_action)
    LIBC_ENTRY(sigaction);
int libc_entry_sigaction(int number, const struct sigaction *new_action, struct sigaction *old_action)
{
    if (new_action == NULL)
        return signals_are_shared(number) ? disposition_change(NULL, old_action) : action_query(number, old_action);
    if (dispositions_are_shared(number))
        return disposition_change(new_action, old_action);
    if (!signals_are_watched() || !libc_owner_is_here())
        return LIBC_REAL(sigaction)(number, new_action, old_action);
    handler_note(number, new_action->sa_handler);
    return action_set_open(number, new_action, old_action);
}

static void disposition_watch(int number)
{
    struct sigaction action;
    if (LIBC_REAL(sigaction)(number, NULL, &action) != 0 || action.sa_handler == SIG_DFL ||
        action.sa_handler == SIG_IGN)
        return;
    handler_note(number, action.sa_handler);
    if (sigismember(&action.sa_mask, SIGSEGV) == 1)
        action_set_open(number, &action, NULL);
}

void libc_signals_watch(void)
{
    if (atomic_exchange_explicit(&signals.is_watching, true, memory_order_relaxed))
        return;
    for (int number = 1; number < NSIG; number++)
        disposition_watch(number);
}

/* Without a mask of the program's. */
static void mask_note_alone(int number)
{
    if (libc_owner_is_here())
        mask_note(number, false);
}

sighandler_t libc_signals_set(int number, sighandler_t handler, unsigned flags, sighandler_t (*real)(int, sighandler_t))
{
    if (dispositions_are_shared(number))
        return handler_change(handler, (int)flags);
    handler_note(number, handler);
    mask_note_alone(number);
    return real(number, handler);
}

/* The signal that a touch raises stays open: SIG_HOLD and sighold() change nothing about it. */

sighandler_t libc_entry_sigset(int number, sighandler_t handler) LIBC_ENTRY(sigset);
sighandler_t libc_entry_sigset(int number, sighandler_t handler)
{
    struct sigaction action;
    bool is_shared = dispositions_are_shared(number);
    if (is_shared && handler == SIG_HOLD)
        return disposition_change(NULL, &action) ? SIG_ERR : action.sa_handler;
    if (is_shared)
        return handler_change(handler, 0);
    handler_note(number, handler);
    if (handler != SIG_HOLD)
        mask_note_alone(number);
    return LIBC_REAL(sigset)(number, handler);
}

int libc_entry_sigignore(int number) LIBC_ENTRY(sigignore);
int libc_entry_sigignore(int number)
{
    if (dispositions_are_shared(number))
        return handler_change(SIG_IGN, 0) == SIG_ERR ? -1 : 0;
    mask_note_alone(number);
    return LIBC_REAL(sigignore)(number);
}

int libc_entry_sighold(int number) LIBC_ENTRY(sighold);
int libc_entry_sighold(int number)
{
    return signals_are_shared(number) ? 0 : LIBC_REAL(sighold)(number);
}

/* A thread that blocks SIGSEGV would be killed at its first touch: the kernel
 * forces the signal and resets its disposition. Fills `kept` with the rest of
 * the set and returns it, or the set as it is where SIGSEGV is not ours. */
static const sigset_t *mask_without_touch(int how, const sigset_t *set, sigset_t *kept)
{
    if (!set || !signals_are_shared(SIGSEGV) || sigismember(set, SIGSEGV) != 1)
        return set;
    if (how == SIG_UNBLOCK) {
        protect_signal_opens();
        return set;
    }
    *kept = *set;
    sigdelset(kept, SIGSEGV);
    return kept;
}

static void mask_wait(const sigset_t *set, const sigset_t *old_set)
{
    libc_use_drain();
    if (!protect_armed_is_any())
        return;
    libc_use_reads(set, sizeof *set);
    libc_use_writes(old_set, sizeof *old_set);
}

void libc_signals_open_thread(void)
{
    sigset_t touch;
    if (!signals_are_shared(SIGSEGV))
        return;
    sigemptyset(&touch);
    sigaddset(&touch, SIGSEGV);
    LIBC_REAL(pthread_sigmask)(SIG_UNBLOCK, &touch, NULL);
}

int libc_entry_sigprocmask(int how, const sigset_t *set, sigset_t *old_set) LIBC_ENTRY(sigprocmask);
int libc_entry_sigprocmask(int how, const sigset_t *set, sigset_t *old_set)
{
    mask_wait(set, old_set);
    sigset_t kept;
    return LIBC_REAL(sigprocmask)(how, mask_without_touch(how, set, &kept), old_set);
}

int libc_entry_pthread_sigmask(int how, const sigset_t *set, sigset_t *old_set) LIBC_ENTRY(pthread_sigmask);
int libc_entry_pthread_sigmask(int how, const sigset_t *set, sigset_t *old_set)
{
    mask_wait(set, old_set);
    sigset_t kept;
    return LIBC_REAL(pthread_sigmask)(how, mask_without_touch(how, set, &kept), old_set);
}
