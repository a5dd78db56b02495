/* SPDX-License-Identifier: MIT */
/* The backend that works everywhere: mprotect, and SIGSEGV at a touch. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protect/backend.h"
#include "protect/fault.h"
#include "protect/kernel.h"
#include "protect/protect.h"
#include "protect/refusal.h"
#include "protect/reserve.h"

/* linux/signal.h; glibc hides it */
enum { SIGNAL_RESTORER_FLAG = 0x04000000 };

static struct {
    struct base_lock lock; /* of the program's disposition */
    _Atomic bool is_installed;
} handler;

static bool action_exchange(const struct kernel_action *new_action, struct kernel_action *old_action)
{
    return syscall(SYS_rt_sigaction, SIGSEGV, new_action, old_action, BASE_SIGNAL_SET_BYTES) == 0;
}

/* Which stack, and whether a system call goes on after a sent signal, follow the program's own handler. Without one it
 * is the ordinary stack: an alternate one is there for other handlers, and may have just the room that they need. */
static unsigned long flags_like(const struct fault_disposition *disposition)
{
    unsigned long own = SA_SIGINFO | SA_NODEFER | SIGNAL_RESTORER_FLAG;
    if (disposition->handler == (uintptr_t)SIG_DFL || disposition->handler == (uintptr_t)SIG_IGN)
        return own | SA_RESTART;
    return own | (disposition->flags & (SA_ONSTACK | SA_RESTART));
}

static bool handler_install(const struct fault_disposition *disposition, struct kernel_action *before)
{
    unsigned long flags = flags_like(disposition);
    struct kernel_action action = {.handler = (uintptr_t)fault_handle,
                                   .flags = flags,
                                   .mask = flags & SA_ONSTACK ? base_signal_set_deferrable() : 0, /* signals_settle() */
                                   .restorer = (uintptr_t)protect_signal_return};
    return action_exchange(&action, before);
}

static bool signal_start(void)
{
    struct kernel_action before = {0};
    /* In a child of fork() who had taken it may not exist. Nobody takes it before. */
    atomic_store_explicit(&handler.lock.state, 0, memory_order_relaxed);
    if (!action_exchange(NULL, &before))
        return false;
    struct fault_disposition disposition = {before.handler, before.mask,
                                            (uint32_t)before.flags & ~(uint32_t)SIGNAL_RESTORER_FLAG};
    fault_disposition_set(&disposition);
    bool is_done = handler_install(&disposition, &before);
    atomic_store_explicit(&handler.is_installed, is_done, memory_order_relaxed); /* start is single-threaded */
    return is_done;
}

/* Gives SIGSEGV back to the program. */
static void signal_stop(void)
{
    if (!atomic_exchange_explicit(&handler.is_installed, false, memory_order_relaxed))
        return;
    struct fault_disposition disposition;
    fault_disposition_get(&disposition);
    struct kernel_action action = {.handler = disposition.handler,
                                   .flags = disposition.flags | SIGNAL_RESTORER_FLAG,
                                   .restorer = (uintptr_t)protect_signal_return,
                                   .mask = disposition.mask};
    action_exchange(&action, NULL);
}

static void disposition_from_libc(const struct sigaction *action, struct fault_disposition *disposition)
{
    disposition->handler = (uintptr_t)action->sa_sigaction; /* shares its place with sa_handler */
    disposition->flags = (uint32_t)action->sa_flags;
    memcpy(&disposition->mask, &action->sa_mask, sizeof(disposition->mask));
}

static void disposition_to_libc(const struct fault_disposition *disposition, struct sigaction *action)
{
    memset(action, 0, sizeof(*action));
    action->sa_sigaction = (void (*)(int, siginfo_t *, void *))disposition->handler;
    action->sa_flags = (int)disposition->flags;
    memcpy(&action->sa_mask, &disposition->mask, sizeof(disposition->mask));
}

/* sigaction(2) may be called from signal handlers. */
static void disposition_exchange(const struct fault_disposition *next, struct fault_disposition *before)
{
    struct kernel_action ignored;
    uint64_t mask = kernel_lock_take(&handler.lock);
    fault_disposition_get(before);
    if (next != NULL) {
        fault_disposition_set(next);
        handler_install(next, &ignored);
    }
    kernel_lock_release(&handler.lock, mask);
}

int protect_signal_disposition(const struct sigaction *new_action, struct sigaction *old_action)
{
    if (!atomic_load_explicit(&handler.is_installed, memory_order_relaxed))
        return ENOSYS;
    struct fault_disposition next;
    struct fault_disposition before;
    if (new_action != NULL)
        disposition_from_libc(new_action, &next);
    disposition_exchange(new_action != NULL ? &next : NULL, &before);
    if (old_action != NULL)
        disposition_to_libc(&before, old_action);
    return 0;
}

void protect_signal_opens(void)
{
    fault_program_opens();
}

static bool signal_access_close(struct range pages)
{
    return kernel_mprotect(pages, PROT_NONE);
}

static bool signal_write_close(struct range pages)
{
    return kernel_mprotect(pages, PROT_READ);
}

/* Splits a mapping where a neighbour stays held, for which there may be none left. */
static void signal_open(struct range pages)
{
    bool is_open;
    do
        is_open = kernel_mprotect(pages, PROT_READ | PROT_WRITE);
    while (!is_open && errno == ENOMEM && reserve_spend());
    if (!is_open)
        refusal_end_open(pages, errno);
}

static bool signal_transit_settle(struct range transit_pages)
{
    return kernel_mprotect(transit_pages, PROT_READ | PROT_WRITE);
}

const struct backend backend_signal = {
    .name = "signal",
    .system_calls_fail = true,
    .sets_rights = true,
    .start = signal_start,
    .stop = signal_stop,
    .access_close = signal_access_close,
    .access_open = signal_open,
    .transit_settle = signal_transit_settle,
    .write_close = signal_write_close,
    .write_open = signal_open,
};
