/* SPDX-License-Identifier: MIT */
/* Everything of this layer that may run in signal context. Rules of this file:
 * no allocation, no lock, no libc beyond syscall(2) wrappers, errno kept. A test
 * compares the symbols that it uses with a list; another one follows what is
 * reached through `tell_touched` and `tell_watch` (tests/lib/signal_context.py). */
#include "protect/fault.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/pages.h"
#include "base/signal_set.h"
#include "protect/armed.h"
#include "protect/holds.h"
#include "protect/kernel.h"
#include "protect/watches.h"

struct holds holds;
struct watches watches;

/* Whom to tell; written before any thread can fault.
 *
 * program: its disposition behind a sequence count: odd while it is written.
 * All fields atomic, so that a torn read is only a stale one, tried again. */
static struct {
    _Atomic(protect_hold_touched_fn *) tell_touched;
    _Atomic(watch_touched_fn *) tell_watch;
    struct {
        _Atomic uint32_t sequence;
        _Atomic uintptr_t handler;
        _Atomic uint64_t mask;
        _Atomic uint32_t flags;
        _Atomic uint32_t spent_sequence; /* SA_RESETHAND was used up at this sequence */
    } program;
} fault = {.program = {.spent_sequence = UINT32_MAX}};

static _Thread_local struct {
    uint32_t retried_release_count; /* releases that it knew of when it last tried an access again */
    bool is_in_handler;             /* of the program's, which blocks SIGSEGV, or jumped out of it */
} fault_thread;

void fault_touched_set(protect_hold_touched_fn *touched)
{
    atomic_store_explicit(&fault.tell_touched, touched, memory_order_relaxed); /* before any thread can fault */
}

bool hold_view_take(struct hold *hold, struct hold_view *view)
{
    /* acquire, all of them: see the order in holds.h */
    view->word = atomic_load_explicit(&hold->word, memory_order_acquire);
    if (view->word % 2 == 0)
        return false;
    view->pages.low = atomic_load_explicit(&hold->low, memory_order_acquire);
    view->pages.high = atomic_load_explicit(&hold->high, memory_order_acquire);
    view->op_id = atomic_load_explicit(&hold->op_id, memory_order_acquire);
    view->kind = (enum hold_kind)atomic_load_explicit(&hold->kind, memory_order_acquire);
    /* relaxed: the loads above already ordered it */
    return atomic_load_explicit(&hold->word, memory_order_relaxed) == view->word;
}

struct hold *hold_next(const struct hold *before, struct range pages, struct hold_view *view)
{
    /* acquire: the slots below `used` and the bounds were written before */
    uint32_t used = atomic_load_explicit(&holds.used, memory_order_acquire);
    uint32_t index = before == NULL ? 0 : (uint32_t)(before - holds.table) + 1;
    for (; index < used; index++)
        if (hold_view_take(&holds.table[index], view) && base_ranges_overlap(view->pages, pages))
            return &holds.table[index];
    return NULL;
}

struct hold *hold_first_of(int kinds, struct range pages, struct hold_view *view)
{
    struct hold *hold = hold_next(NULL, pages, view);
    while (hold != NULL && (kinds & 1 << view->kind) == 0)
        hold = hold_next(hold, pages, view);
    return hold;
}

static bool is_in_bounds(struct range pages)
{
    /* relaxed: a hold that is armed at this very moment by another thread may
     * be missed, as in protect_armed_is_any() */
    uintptr_t low = atomic_load_explicit(&holds.bound_low, memory_order_relaxed);
    uintptr_t high = atomic_load_explicit(&holds.bound_high, memory_order_relaxed);
    return base_ranges_overlap(pages, (struct range){low, high});
}

uint64_t protect_armed_find(struct range bytes, bool allow_read)
{
    struct range pages = base_pages_of(bytes);
    if (!is_in_bounds(pages))
        return 0;
    struct hold_view view;
    bool is_held = hold_first_of(allow_read ? HOLDS_NO_READ : HOLDS_ALL, pages, &view) != NULL;
    return is_held ? view.op_id : 0;
}

bool protect_armed_is_receiving(void)
{
    struct hold_view view;
    return hold_first_of(HOLDS_NO_ACCESS | HOLDS_LOST, base_range_of_all(), &view) != NULL;
}

/* Tells the op of one hold, if nobody has. */
static void report_once(struct hold *hold, const struct hold_view *view, uintptr_t address)
{
    protect_hold_touched_fn *touched = atomic_load_explicit(&fault.tell_touched, memory_order_relaxed);
    /* relaxed: only one of several threads must win; it publishes nothing */
    uint32_t before = atomic_exchange_explicit(&hold->touched_word, view->word, memory_order_relaxed);
    if (before != view->word && touched != NULL)
        touched(view->op_id, address);
}

bool fault_report(uintptr_t address)
{
    struct range byte = {address, address + 1};
    struct hold_view view;
    bool is_held = false;
    for (struct hold *hold = hold_next(NULL, byte, &view); hold != NULL; hold = hold_next(hold, byte, &view)) {
        report_once(hold, &view, address);
        is_held = true;
    }
    return is_held;
}

void watch_report_to(watch_touched_fn *touched)
{
    atomic_store_explicit(&fault.tell_watch, touched, memory_order_relaxed); /* before any watch is armed */
}

/* Once more: a kernel that lacked memory may have some now. Not for long, since the program may have unmapped it. */
static bool part_open(struct range pages)
{
    return kernel_mprotect(pages, PROT_READ | PROT_WRITE) || kernel_mprotect(pages, PROT_READ | PROT_WRITE);
}

bool watch_open(const struct watch_slot *slot)
{
    bool is_open = true;
    for (int i = 0; i < slot->part_count; i++)
        is_open &= part_open(slot->parts[i].pages);
    /* A fault may be on its way to the handler, and will find the watch open: it tries again. release: as in table.c,
     * pages first. */
    atomic_fetch_add_explicit(&holds.release_count, 1, memory_order_release);
    return is_open;
}

/* From then on what the program does there is its own: it may have taken its rights away. */
static bool watch_is_closed(const struct watch_slot *slot)
{
    /* acquire: pairs with the release of ARMED. */
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state == WATCH_ARMED || state == WATCH_TOUCHING || state == WATCH_OPENING;
}

/* The part that closes the page of this address; NULL when none does. */
static const struct watch_part *watch_part_at(const struct watch_slot *slot, uintptr_t address)
{
    for (int i = 0; i < slot->part_count; i++)
        if (base_range_has(slot->parts[i].pages, address))
            return &slot->parts[i];
    return NULL;
}

/* Splits a mapping, unless it is one of its own. False: the program has used up its mappings. */
static bool page_open(uintptr_t address)
{
    return kernel_mprotect(base_pages_of((struct range){address, address + 1}), PROT_READ | PROT_WRITE);
}

/* First touch: tell, then open. Another thread's, at the same time: only open. False: the access would fail again. */
static bool watch_touch(int watch, uintptr_t address, const void *context)
{
    struct watch_slot *slot = &watches.slots[watch];
    watch_touched_fn *report = atomic_load_explicit(&fault.tell_watch, memory_order_relaxed);
    uint32_t state = WATCH_ARMED;
    struct context_place place = context_place(context);
    bool is_first = atomic_compare_exchange_strong_explicit(&slot->state, &state, WATCH_TOUCHING, memory_order_acquire,
                                                            memory_order_relaxed);
    if (is_first && report != NULL)
        report(watch, address, &place);
    bool is_open = watch_open(slot) || page_open(address);
    if (!is_first)
        return is_open;
    atomic_fetch_add_explicit(&watches.touched_count, 1, memory_order_relaxed);
    /* release: who claims the watch sees what was reported. */
    atomic_store_explicit(&slot->state, WATCH_TOUCHED, memory_order_release);
    return is_open;
}

/* A neighbour on the first or last page is no touch, unless all must be opened for it. */
static bool watch_meet(int watch, const struct watch_part *part, uintptr_t address, const void *context)
{
    bool is_neighbour = !base_range_has(part->bytes, address);
    return (is_neighbour && page_open(address)) || watch_touch(watch, address, context);
}

/* Where what lies beside a watch has the same rights the kernel makes one mapping of both, and may have none to split
 * it. */
static void tell_unopened(void)
{
    static const char text[] =
        "lapwing: the kernel does not open a watched buffer again: the program has used up its mappings "
        "(vm.max_map_count). Run with --profile-slack off.\n";
    syscall(SYS_write, STDERR_FILENO, text, sizeof(text) - 1);
}

bool watch_handle(uintptr_t address, const void *context)
{
    bool is_watched = false;
    for (int i = 0; i < WATCHES_MAX; i++) {
        if (!watch_is_closed(&watches.slots[i]))
            continue;
        const struct watch_part *part = watch_part_at(&watches.slots[i], address);
        if (part == NULL)
            continue;
        if (watch_meet(i, part, address, context))
            is_watched = true;
        else
            tell_unopened();
    }
    return is_watched;
}

/* The child of a fork uses memory whose data its parent gets. */
static bool tell_if_lost(uintptr_t address)
{
    static const char text[] =
        "lapwing: this process was forked while a message was awaited, and uses the memory that the message goes to: "
        "its data are in the parent alone. Touch it before fork(), or run with --receives off.\n";
    struct range byte = {address, address + 1};
    struct hold_view view;
    if (hold_next(NULL, byte, &view) == NULL || view.kind != HOLD_LOST)
        return false;
    syscall(SYS_write, STDERR_FILENO, text, sizeof(text) - 1);
    return true;
}

/* An alternate stack may have no room for another handler above our frame, and that handler need not have run there at
 * all. So signals are blocked while we wait on one. (Elsewhere they come as they like.) */
static void signals_settle(void *context)
{
    uint64_t late = context_is_on_alternate_stack(context) ? base_signal_set_deferrable() : 0;
    kernel_signals_restore(*context_mask(context) | late);
}

/* Has a signal come that the interrupted code would take? It does once we are gone, and then tries its access again. */
static bool signal_has_come(void *context)
{
    uint64_t pending = 0;
    syscall(SYS_rt_sigpending, &pending, BASE_SIGNAL_SET_BYTES);
    return (pending & ~*context_mask(context)) != 0;
}

/* False: somebody else waits for our place. What is blocked interrupts no wait, so it is short. */
static bool wait_for_hold(struct hold *hold, uint32_t word, void *context)
{
    enum { SHORT_NS = 1000000 };
    bool is_short = context_is_on_alternate_stack(context);
    base_futex_wait(&hold->word, word, is_short ? SHORT_NS : -1);
    return !is_short || !signal_has_come(context);
}

/* Waits until no hold is at the address, or a signal has come that cannot be handled here. False when none was there.
 * Told each time: a hold whose word has changed counts as another one. And after the word to sleep on was read: one
 * that changed in between would be slept on untold. */
static bool wait_for_holds(uintptr_t address, void *context)
{
    struct range byte = {address, address + 1};
    struct hold_view view;
    struct hold *hold = hold_next(NULL, byte, &view);
    bool was_held = hold != NULL;
    bool stays = true;
    /* Lost: this is a child, forked by a handler that interrupted the wait; the access is tried again, and told. */
    for (; stays && hold != NULL && view.kind != HOLD_LOST; hold = hold_next(NULL, byte, &view)) {
        fault_report(address);
        stays = wait_for_hold(hold, view.word, context);
    }
    return was_held;
}

/* In the order of wait_for_holds(). A lost hold never ends. */
void protect_armed_wait(struct range bytes)
{
    const int awaited = HOLDS_NO_ACCESS | HOLDS_COPY_ON_TOUCH;
    struct range pages = base_pages_of(bytes);
    struct hold_view view;
    struct hold *hold;
    while (is_in_bounds(pages) && (hold = hold_first_of(awaited, pages, &view)) != NULL) {
        report_once(hold, &view, view.pages.low > pages.low ? view.pages.low : pages.low);
        base_futex_wait(&hold->word, view.word, -1);
    }
}

/* A hold may be released between the fault and our look at the table. Then the
 * access is good by now: try again, once per release that this thread has not
 * seen yet. A fault of the program's own comes back and is given to it. */
static bool is_released_since(void)
{
    /* acquire: pairs with the release in table.c, pages first, count second */
    uint32_t count = atomic_load_explicit(&holds.release_count, memory_order_acquire);
    bool is_new = count != fault_thread.retried_release_count;
    fault_thread.retried_release_count = count;
    return is_new;
}

void fault_disposition_set(const struct fault_disposition *disposition)
{
    uint32_t sequence = atomic_load_explicit(&fault.program.sequence, memory_order_relaxed);
    atomic_store_explicit(&fault.program.sequence, sequence + 1, memory_order_relaxed);
    /* release: a reader that sees a new field sees the odd sequence too */
    atomic_store_explicit(&fault.program.handler, disposition->handler, memory_order_release);
    atomic_store_explicit(&fault.program.mask, disposition->mask, memory_order_release);
    atomic_store_explicit(&fault.program.flags, disposition->flags, memory_order_release);
    atomic_store_explicit(&fault.program.sequence, sequence + 2, memory_order_release);
}

/* The disposition and the (even) sequence that it belongs to. The writer blocks
 * all signals, so that no handler of its own thread waits here for it. */
static uint32_t disposition_read(struct fault_disposition *disposition)
{
    uint32_t before;
    uint32_t after;
    do {
        before = atomic_load_explicit(&fault.program.sequence, memory_order_acquire);
        disposition->handler = atomic_load_explicit(&fault.program.handler, memory_order_acquire);
        disposition->mask = atomic_load_explicit(&fault.program.mask, memory_order_acquire);
        disposition->flags = atomic_load_explicit(&fault.program.flags, memory_order_acquire);
        after = atomic_load_explicit(&fault.program.sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    return before;
}

void fault_disposition_get(struct fault_disposition *disposition)
{
    uint32_t sequence = disposition_read(disposition);
    if (atomic_load_explicit(&fault.program.spent_sequence, memory_order_relaxed) == sequence)
        disposition->handler = (uintptr_t)SIG_DFL;
}

/* The disposition for one delivery: SA_RESETHAND lets only the first thread have the handler. */
static void disposition_take(struct fault_disposition *disposition)
{
    uint32_t sequence = disposition_read(disposition);
    if (!(disposition->flags & (uint32_t)SA_RESETHAND))
        return;
    if (atomic_exchange_explicit(&fault.program.spent_sequence, sequence, memory_order_relaxed) == sequence)
        disposition->handler = (uintptr_t)SIG_DFL;
}

static void send_again(int signal_number, siginfo_t *info)
{
    syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid), signal_number, info);
}

/* Ends the process as the kernel would. After a fault, returning from the
 * handler repeats it, now without a handler: the core file shows the place. A
 * signal that somebody sent has to be sent once more. */
static void die(int signal_number, siginfo_t *info)
{
    struct kernel_action action = {.handler = (uintptr_t)SIG_DFL};
    syscall(SYS_rt_sigaction, signal_number, &action, NULL, BASE_SIGNAL_SET_BYTES);
    if (info->si_code <= 0)
        send_again(signal_number, info);
}

/* Stands in the thread's mask for a SIGSEGV that the program has blocked, which must stay open, or the kernel would end
 * the process at a touch. So it goes when the handler's mask goes, by siglongjmp(), say. On these machines nobody sends
 * it (signal(7)). */
enum { STAND_IN = SIGSTKFLT };

static uint64_t more_blocked(const struct fault_disposition *disposition)
{
    bool is_deferred = !(disposition->flags & SA_NODEFER) || (disposition->mask & base_signal_set_of(SIGSEGV)) != 0;
    uint64_t others = disposition->mask & ~base_signal_set_of(SIGSEGV);
    return is_deferred ? others | base_signal_set_of(STAND_IN) : others;
}

/* The program's handler runs with the mask of the interrupted code, its own set and, unless SA_NODEFER, the signal
 * itself. The kernel restores the mask when we return. */
static void call_program(const struct fault_disposition *disposition, int signal_number, siginfo_t *info, void *context)
{
    uint64_t more = more_blocked(disposition);
    uint64_t before = *context_mask(context);
    kernel_signals_restore(before | more);
    /* Blocked by the program itself, it cannot tell when the handler's mask goes. */
    fault_thread.is_in_handler = (more & ~before & base_signal_set_of(STAND_IN)) != 0;
    if (disposition->flags & SA_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))disposition->handler)(signal_number, info, context);
    else
        ((void (*)(int))disposition->handler)(signal_number);
    fault_thread.is_in_handler = false;
}

void fault_program_opens(void)
{
    fault_thread.is_in_handler = false;
}

static bool is_blocked_by_program(void *context)
{
    return fault_thread.is_in_handler && (*context_mask(context) & base_signal_set_of(STAND_IN)) != 0;
}

/* What was sent waits for the end of the program's handler, in which a touch is no longer possible. */
static void leave_pending(int signal_number, siginfo_t *info, void *context)
{
    uint64_t own = base_signal_set_of(signal_number);
    *context_mask(context) |= own;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &own, NULL, BASE_SIGNAL_SET_BYTES);
    send_again(signal_number, info);
}

/* As the kernel does with a signal that is blocked: force_sig_info_to_task() in kernel/signal.c. */
static void give_to_handler(int signal_number, siginfo_t *info, void *context)
{
    if (info->si_code > 0)
        die(signal_number, info);
    else
        leave_pending(signal_number, info, context);
}

/* What the kernel would do with this signal if Lapwing were not here. A fault
 * cannot be ignored: force_sig_fault() in kernel/signal.c. */
static void give_to_program(int signal_number, siginfo_t *info, void *context)
{
    struct fault_disposition disposition;
    if (is_blocked_by_program(context)) {
        give_to_handler(signal_number, info, context);
        return;
    }
    disposition_take(&disposition);
    bool is_fault = info->si_code > 0;
    if (disposition.handler == (uintptr_t)SIG_DFL || (disposition.handler == (uintptr_t)SIG_IGN && is_fault))
        die(signal_number, info);
    else if (disposition.handler != (uintptr_t)SIG_IGN)
        call_program(&disposition, signal_number, info, context);
}

enum { FAULT_BY_KEY = 4 }; /* SEGV_PKUERR, Linux 4.6; glibc 2.17 has no name for it */

/* Protection keys: a thread from before them, or another signal handler that was interrupted, may not even read what
 * is sent. Gets the program's rights, and tries again. */
static bool is_given_rights(const siginfo_t *info, void *context)
{
    const struct base_rights *rights = &holds.rights;
    if (info->si_code != FAULT_BY_KEY || rights->mask == 0)
        return false;
    uint32_t *own = context_rights(context, rights->offset_bytes);
    if (own == NULL || !base_rights_are_default(rights, *own))
        return false;
    *own = (*own & ~rights->mask) | rights->closed;
    return true;
}

/* Faults with an address, and not those that have none (SI_KERNEL: a
 * non-canonical pointer) or that somebody sent. */
static bool is_access_fault(const siginfo_t *info)
{
    return info->si_code == SEGV_ACCERR || info->si_code == SEGV_MAPERR || info->si_code == FAULT_BY_KEY;
}

void fault_handle(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    signals_settle(context);
    bool is_ours = is_access_fault(info) && !tell_if_lost(address) &&
                   (is_given_rights(info, context) || watch_handle(address, context) ||
                    wait_for_holds(address, context) || is_released_since());
    if (!is_ours)
        give_to_program(signal_number, info, context);
    errno = saved_errno;
}
