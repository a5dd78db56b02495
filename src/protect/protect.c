/* SPDX-License-Identifier: MIT */
/* The backend in use, from start to end. */
#include "protect/protect.h"

#include <errno.h>

#include "base/pages.h"
#include "base/room.h"
#include "protect/backend.h"
#include "protect/fault.h"
#include "protect/holds.h"
#include "protect/huge.h"
#include "protect/kernel.h"
#include "protect/keys.h"
#include "protect/locked.h"
#include "protect/memory.h"
#include "protect/probe.h"
#include "protect/reserve.h"
#include "protect/table.h"
#include "protect/touched.h"

static bool choice_allows(enum option_hold choice, const struct backend *candidate)
{
    switch (choice) {
    case OPTION_HOLD_USERFAULTFD:
        return candidate == &backend_userfault;
    case OPTION_HOLD_USERFAULTFD_USER:
        return candidate == &backend_userfault_user;
    case OPTION_HOLD_SIGNAL:
        return candidate == &backend_signal;
    case OPTION_HOLD_KEYS:
        return candidate == &backend_keys;
    case OPTION_HOLD_NONE:
        return false;
    default:
        return candidate != &backend_keys;
    }
}

static bool backend_try(const struct backend *candidate)
{
    table.backend = candidate;
    if (candidate->start() && probe_holds())
        return true;
    candidate->stop();
    table.backend = NULL;
    return false;
}

static bool backend_choose(enum option_hold choice, protect_hold_touched_fn *touched)
{
    static const struct backend *const candidates[] = {&backend_userfault, &backend_userfault_user, &backend_signal,
                                                       &backend_keys};
    int saved_errno = errno;
    memory_start();
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && table.backend == NULL; i++)
        if (choice_allows(choice, candidates[i]))
            backend_try(candidates[i]);
    fault_touched_set(touched);
    errno = saved_errno;
    return table.backend != NULL;
}

bool protect_start(enum option_hold choice, protect_hold_touched_fn *touched)
{
    bool has_backend = backend_choose(choice, touched);
    table.held_calls_fail = protect_system_calls_fail();
    return has_backend;
}

bool protect_start_watches(void)
{
    return backend_choose(OPTION_HOLD_SIGNAL, NULL);
}

void protect_threads_set(bool several)
{
    atomic_store_explicit(&table.has_several_threads, several, memory_order_relaxed);
}

enum reason protect_memory_check(struct range bytes)
{
    return memory_check(bytes, protect_sets_rights());
}

/* Of memory that may not be written the kernel takes off what it counts as data, and opens it only if the program has
 * not used that up. */
static bool is_counted_off(void)
{
    return protect_sets_rights() && base_room_is_limited_data();
}

/* Limits come last: what cannot be held for another reason may go from a copy. */
enum reason protect_memory_check_to_hold(struct range bytes)
{
    enum reason reason = protect_memory_check(bytes);
    if (reason != REASON_NONE)
        return reason;
    if (locked_touches(base_pages_of(bytes)))
        return REASON_MEMORY_LOCKED;
    return is_counted_off() ? REASON_MEMORY_LIMITED : REASON_NONE;
}

enum reason protect_memory_check_to_watch(struct range bytes)
{
    enum reason reason = protect_memory_check(bytes);
    return reason == REASON_NONE && is_counted_off() ? REASON_MEMORY_LIMITED : reason;
}

/* Of no memory: it only tells whether the kernel knows the advice. */
bool protect_may_hide_guards(void)
{
    enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL; newer than Debian 12's headers */
    int saved_errno = errno;
    bool are_known = syscall(SYS_madvise, 0L, 0L, (long)GUARD_INSTALL) == 0;
    errno = saved_errno;
    return are_known;
}

struct base_rights protect_take_keys(void)
{
    keys_take();
    return holds.rights;
}

bool protect_has_keys(void)
{
    return holds.rights.mask != 0;
}

void protect_settle_keys(void)
{
    if (!protect_holds_in_place())
        keys_give_back();
}

struct base_rights protect_rights(void)
{
    return protect_holds_in_place() ? holds.rights : (struct base_rights){0};
}

bool protect_holds_in_place(void)
{
    return table.backend != NULL && table.backend->is_in_place;
}

const char *protect_backend_name(void)
{
    return table.backend == NULL ? "none" : table.backend->name;
}

bool protect_system_calls_fail(void)
{
    return table.backend != NULL && table.backend->system_calls_fail;
}

bool protect_held_calls_fail(void)
{
    return table.held_calls_fail;
}

bool protect_system_calls_must_wait(void)
{
    return protect_system_calls_fail() || touched_is_any();
}

bool protect_sets_rights(void)
{
    return table.backend != NULL && table.backend->sets_rights;
}

bool protect_copies_touched(void)
{
    return table.backend != NULL && table.backend->copying_close != NULL;
}

int protect_event_descriptor(void)
{
    bool has_events = table.backend != NULL && table.backend->event_descriptor != NULL;
    return has_events ? table.backend->event_descriptor() : -1;
}

void protect_stop(void)
{
    if (table.backend != NULL)
        table.backend->stop();
    table.backend = NULL;
    huge_forget();
    memory_stop();
    reserve_stop();
}

void protect_fork_begin(void)
{
    struct table_before before = table_enter();
    table.forking_count++;
    table_leave(before);
}

void protect_fork_end(void)
{
    struct table_before before = table_enter();
    if (--table.forking_count == 0)
        touched_let_again();
    table_leave(before);
}
