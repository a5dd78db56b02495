/* SPDX-License-Identifier: MIT */
/* What the other layers ask for: the backend in use, and holds from arming to release. */
#include "protect/protect.h"

#include <errno.h>

#include "protect/backend.h"
#include "protect/closing.h"
#include "protect/fault.h"
#include "protect/hold.h"
#include "protect/huge.h"
#include "protect/memory.h"
#include "protect/probe.h"
#include "protect/reserve.h"
#include "protect/table.h"
#include "protect/touched.h"
#include "protect/transit.h"

static const struct backend *backend; /* NULL: none; written by start, stop and after fork */

/* A touch of pages that are held no more was late: let it go on. While a thread forks
 * nothing is copied: the child could meet a page that is half there. */
static void touch_answer(uintptr_t address)
{
    if (touched_serve(address, backend, table_forking_count == 0))
        return;
    if (!fault_report(address))
        backend->wake(base_pages_of((struct range){address, address + 1}));
}

/* A send that moves leaves the pages alone that it shares (scratch.h). */
static struct range pages_held(enum hold_kind kind, struct range bytes)
{
    return kind == HOLD_COPY_ON_TOUCH ? base_pages_within(bytes) : base_pages_of(bytes);
}

static enum reason arm_locked(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **armed)
{
    struct range pages = pages_held(kind, bytes);
    struct hold *hold = table_find_free();
    if (table_forking_count != 0)
        return REASON_NOT_RUNNING;
    if (hold == NULL)
        return REASON_TOO_MANY_OPS;
    if (!reserve_cover(1 + atomic_load_explicit(&protect_armed_count, memory_order_relaxed)))
        return REASON_MEMORY_FAILED;
    closing_prepare(bytes);
    table_fill(hold, kind, bytes, pages, op_id);
    table_publish(hold, pages);
    *armed = hold;
    if (closing_close(backend, hold, kind, bytes, pages))
        return REASON_NONE;
    table_retire(hold);
    *armed = NULL;
    return REASON_MEMORY_FAILED;
}

enum reason protect_hold_arm(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **hold)
{
    if (backend == NULL || base_range_is_empty(pages_held(kind, bytes)))
        return REASON_MEMORY_FAILED;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    enum reason reason = arm_locked(kind, bytes, op_id, hold);
    table_leave(mask);
    errno = saved_errno;
    return reason;
}

void protect_hold_release(struct hold *hold)
{
    struct hold_view view;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    if (hold_view_take(hold, &view)) {
        backend->events_read(touch_answer); /* a touch that the release wakes would never be read */
        closing_open(backend, hold, view.kind, view.pages);
        table_retire(hold);
    }
    table_leave(mask);
    errno = saved_errno;
}

/* MPI may go on to read in transit: the program gets copies of all pages. */
static void hold_leave_in_transit(struct hold *hold)
{
    struct hold_view view;
    uint64_t mask = table_enter();
    if (hold_view_take(hold, &view)) { /* or the engine has just released it */
        touched_complete(hold, view.pages, backend);
        backend->access_open(view.pages);
        table_retire(hold);
    }
    table_leave(mask);
}

void protect_hold_abandon(struct hold *hold)
{
    struct hold_view view;
    if (!hold_view_take(hold, &view))
        return;
    if (view.kind == HOLD_COPY_ON_TOUCH) {
        hold_leave_in_transit(hold);
        return;
    }
    protect_hold_release(hold);
    if (view.kind == HOLD_NO_ACCESS)
        transit_fill(view.pages);
}

void *protect_hold_transfer_address(const struct hold *hold)
{
    uint32_t kind = atomic_load_explicit(&hold->kind, memory_order_relaxed);
    enum transit transit = kind == HOLD_COPY_ON_TOUCH ? TRANSIT_SEND : TRANSIT_RECEIVE;
    return (void *)(kind == HOLD_NO_WRITE ? hold->bytes.low : transit_address(transit, hold->bytes.low));
}

/* --- start and end --- */

static bool choice_allows(enum option_hold choice, const struct backend *candidate)
{
    switch (choice) {
    case OPTION_HOLD_USERFAULTFD:
        return candidate == &backend_userfault;
    case OPTION_HOLD_USERFAULTFD_USER:
        return candidate == &backend_userfault_user;
    case OPTION_HOLD_SIGNAL:
        return candidate == &backend_signal;
    case OPTION_HOLD_NONE:
        return false;
    default:
        return true;
    }
}

static bool backend_try(const struct backend *candidate)
{
    backend = candidate;
    if (candidate->start() && probe_holds())
        return true;
    candidate->stop();
    backend = NULL;
    return false;
}

bool protect_start(enum option_hold choice, protect_touched_fn *touched)
{
    static const struct backend *const candidates[] = {&backend_userfault, &backend_userfault_user, &backend_signal};
    int saved_errno = errno;
    memory_start();
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && backend == NULL; i++)
        if (choice_allows(choice, candidates[i]))
            backend_try(candidates[i]);
    fault_touched_set(touched);
    errno = saved_errno;
    return backend != NULL;
}

const char *protect_backend_name(void)
{
    return backend == NULL ? "none" : backend->name;
}

bool protect_system_calls_fail(void)
{
    return backend != NULL && backend->system_calls_fail;
}

bool protect_system_calls_must_wait(void)
{
    return protect_system_calls_fail() || protect_is_copying();
}

bool protect_sets_rights(void)
{
    return backend != NULL && backend->sets_rights;
}

bool protect_copies_touched(void)
{
    return backend != NULL && backend->copying_close != NULL;
}

bool protect_is_copying(void)
{
    return touched_is_any();
}

size_t protect_copied_most(size_t length_bytes)
{
    enum { LEAST_BYTES = 64 << 10, SHARE = 4 };
    return length_bytes / SHARE > LEAST_BYTES ? length_bytes / SHARE : LEAST_BYTES;
}

int protect_event_descriptor(void)
{
    return backend == NULL ? -1 : backend->event_descriptor();
}

void protect_events_read(void)
{
    if (backend == NULL)
        return;
    int saved_errno = errno;
    uint64_t mask = table_enter();
    backend->events_read(touch_answer);
    table_leave(mask);
    errno = saved_errno;
}

void protect_stop(void)
{
    if (backend != NULL)
        backend->stop();
    backend = NULL;
    huge_forget();
    memory_stop();
    reserve_stop();
}

void protect_fork_begin(void)
{
    uint64_t mask = table_enter();
    table_forking_count++;
    table_leave(mask);
}

void protect_fork_end(void)
{
    uint64_t mask = table_enter();
    if (--table_forking_count == 0)
        touched_let_again(backend);
    table_leave(mask);
}
