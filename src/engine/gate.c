/* SPDX-License-Identifier: MIT */
#include "engine/gate.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/signal_set.h"
#include "engine/pending.h"

_Thread_local struct gate_thread gate_thread;

/* is_shared, rights: written before the first op, read by all. lock: who is inside
 * when the gate is not shared. inside: counts visitors when it is.
 * keep_out: program threads that do the engine's work; the engine sleeps on it.
 * arithmetic: of the thread that began a reduction last, 0: none has; relaxed, since the engine takes it inside the
 * gate. open, holders: of a shared gate's visitors, in programs with handlers, those whose signals come, and those that
 * hold memory which is not pending yet. */
static struct {
    bool is_shared;
    struct base_rights rights;
    struct base_lock lock;
    _Atomic uint32_t inside;
    _Atomic uint32_t keep_out;
    _Atomic uint32_t engine_sleeps;
    _Atomic bool defers_signals; /* set once, by whoever installs a handler */
    _Atomic uint64_t arithmetic;
    _Atomic uint32_t open;
    _Atomic uint32_t holders;
} gate;

static uint64_t arithmetic_noted(void)
{
    return atomic_load_explicit(&gate.arithmetic, memory_order_relaxed);
}

bool gate_arithmetic_is_other(void)
{
    uint64_t noted = arithmetic_noted();
    return noted != 0 && noted != machine_arithmetic_read();
}

void gate_note_arithmetic(void)
{
    atomic_store_explicit(&gate.arithmetic, machine_arithmetic_read(), memory_order_relaxed);
}

/* The engine always, since what it has of its own is nobody's; a thread of the program's only where a blocking
 * collective is under way: with MPI alone it would progress what else there is as it is now. */
uint64_t gate_take_arithmetic(void)
{
    uint64_t own = machine_arithmetic_read();
    uint64_t noted = arithmetic_noted();
    if (noted != 0 && noted != own && (gate_thread.is_of_mpi || engine_pending_has_schedules()))
        machine_arithmetic_write(noted);
    return own;
}

/* To write the registers costs more than to read them. */
void gate_give_back_arithmetic(uint64_t own)
{
    if (own != machine_arithmetic_read())
        machine_arithmetic_write(own);
}

static bool signals_may_be_handled(void)
{
    return atomic_load_explicit(&gate.defers_signals, memory_order_relaxed);
}

static bool signals_block(uint64_t *before)
{
    uint64_t set = base_signal_set_deferrable();
    return syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, before, BASE_SIGNAL_SET_BYTES) == 0;
}

static void signals_restore(const uint64_t *before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, BASE_SIGNAL_SET_BYTES);
}

static void signals_defer_now(void)
{
    gate_thread.are_signals_deferred = signals_block(&gate_thread.signals_before);
}

/* May a handler's touch wait for the engine? Holders first: until they leave nothing of theirs need be pending. */
static bool memory_may_be_held(void)
{
    return atomic_load_explicit(&gate.holders, memory_order_seq_cst) != 0 || engine_pending() != 0 ||
           engine_pending_held() != 0;
}

static void signals_defer(void)
{
    gate_thread.are_signals_deferred = false;
    if (signals_may_be_handled() && memory_may_be_held())
        signals_defer_now();
}

static void visit_close(void)
{
    if (!gate_thread.is_open)
        return;
    gate_thread.is_open = false;
    atomic_fetch_sub_explicit(&gate.open, 1, memory_order_seq_cst);
}

/* Of a shared gate. Another thread may hold memory while we are inside. seq_cst, at all four: either who holds it finds
 * us with our signals open, or we find who holds it. Inside already: a handler that comes meanwhile waits for nothing.
 */
static void visit_open(void)
{
    if (!signals_may_be_handled() || gate_thread.are_signals_deferred || gate_thread.is_of_mpi)
        return;
    atomic_fetch_add_explicit(&gate.open, 1, memory_order_seq_cst);
    gate_thread.is_open = true;
    if (!memory_may_be_held())
        return;
    signals_defer_now();
    visit_close();
}

static void visit_hold_begin(void)
{
    if (!gate.is_shared || gate_thread.is_holder)
        return;
    gate_thread.is_holder = true;
    atomic_fetch_add_explicit(&gate.holders, 1, memory_order_seq_cst);
}

static void visit_hold_end(void)
{
    if (gate_thread.is_holder)
        atomic_fetch_sub_explicit(&gate.holders, 1, memory_order_seq_cst);
    gate_thread.is_holder = false;
}

bool gate_hold_back_signals(void)
{
    if (!signals_may_be_handled() || !gate_is_inside())
        return true;
    if (!gate_thread.are_signals_deferred)
        signals_defer_now();
    visit_close();
    visit_hold_begin();
    return atomic_load_explicit(&gate.open, memory_order_seq_cst) == 0;
}

static void signals_deliver(void)
{
    if (gate_thread.are_signals_deferred)
        signals_restore(&gate_thread.signals_before);
    gate_thread.are_signals_deferred = false;
}

void gate_defer_signals(void)
{
    atomic_store_explicit(&gate.defers_signals, true, memory_order_relaxed);
}

void gate_lock_take(struct gate_lock *lock)
{
    uint64_t before;
    bool blocks_signals = signals_may_be_handled() && !gate_thread.are_signals_deferred && signals_block(&before);
    base_lock_take(&lock->lock);
    lock->blocks_signals = blocks_signals;
    if (blocks_signals)
        lock->signals_before = before;
}

void gate_lock_release(struct gate_lock *lock)
{
    bool blocks_signals = lock->blocks_signals;
    uint64_t before = lock->signals_before;
    base_lock_release(&lock->lock);
    if (blocks_signals)
        signals_restore(&before);
}

void gate_use_rights(struct base_rights rights)
{
    gate.rights = rights;
}

bool gate_gives_rights(void)
{
    return gate.rights.mask != 0;
}

/* At every entry, also within a visit: a signal handler that interrupted it begins with the kernel's default. */
static void rights_open(void)
{
    if (gate.rights.mask == 0)
        return;
    bool were_open = base_rights_are_open(&gate.rights, machine_rights_read());
    if (gate_thread.depth == 0)
        gate_thread.keeps_rights = were_open && gate_thread.is_of_mpi;
    base_rights_open(&gate.rights);
}

void gate_drop_rights(void)
{
    if (gate.rights.mask != 0)
        base_rights_close(&gate.rights);
}

static void rights_close(void)
{
    if (!gate_thread.keeps_rights)
        gate_drop_rights();
}

void gate_settle_rights(void)
{
    if (gate.rights.mask != 0 && base_rights_are_default(&gate.rights, machine_rights_read()))
        base_rights_close(&gate.rights);
}

void gate_share(bool is_shared)
{
    gate.is_shared = is_shared;
}

bool gate_enter(void)
{
    if (gate_thread.depth == 0)
        signals_defer();
    rights_open();
    if (gate_thread.depth++ != 0)
        return gate.is_shared;
    if (gate.is_shared) {
        /* seq_cst: pairs with the look at gate_others_inside() after a hold was
         * announced (op/transfer.c): one of the two sees the other. */
        atomic_fetch_add_explicit(&gate.inside, 1, memory_order_seq_cst);
        visit_open();
    } else {
        base_lock_take(&gate.lock);
    }
    return gate.is_shared;
}

static bool gate_try_take(void)
{
    return gate.is_shared ? gate_others_inside() == 0 : base_lock_try(&gate.lock);
}

bool gate_try_enter(void)
{
    signals_defer();
    if (!gate_try_take()) {
        signals_deliver();
        return false;
    }
    if (gate.is_shared)
        atomic_fetch_add_explicit(&gate.inside, 1, memory_order_seq_cst); /* as in gate_enter() */
    rights_open();
    gate_thread.depth++;
    return true;
}

static void gate_give_back(void)
{
    if (gate.is_shared)
        atomic_fetch_sub_explicit(&gate.inside, 1, memory_order_release);
    else
        base_lock_release(&gate.lock);
}

/* As in gate_enter() the depth is 1 wherever the lock may be taken: a signal that is not deferred (handlers of
 * runtimes, or with nothing pending) finds its thread inside, waits for nothing, and never takes the lock a second
 * time. */
void gate_leave(void)
{
    if (gate_thread.depth == 1) {
        visit_close();
        visit_hold_end();
        rights_close();
        gate_give_back();
        atomic_signal_fence(memory_order_release);
    }
    if (--gate_thread.depth == 0)
        signals_deliver();
}

uint32_t gate_others_inside(void)
{
    uint32_t inside = atomic_load_explicit(&gate.inside, memory_order_seq_cst);
    return inside - (gate_thread.depth != 0 && gate.is_shared ? 1 : 0);
}

bool gate_is_waiting(void)
{
    return gate_thread.waits != 0;
}

bool gate_is_anyone_waiting(void)
{
    return atomic_load_explicit(&gate.keep_out, memory_order_relaxed) != 0;
}

uint32_t gate_keep_engine_out(void)
{
    atomic_fetch_add_explicit(&gate.keep_out, 1, memory_order_relaxed);
    return ++gate_thread.waits;
}

static void gate_end_wait(void)
{
    gate_thread.waits--;
    /* seq_cst on both words, here and in gate_wait_for_turn(): either the engine
     * sees the zero, or we see that it sleeps. */
    if (atomic_fetch_sub_explicit(&gate.keep_out, 1, memory_order_seq_cst) != 1)
        return;
    if (atomic_load_explicit(&gate.engine_sleeps, memory_order_seq_cst) != 0)
        base_futex_wake(&gate.keep_out, 1);
}

bool gate_let_engine_in(uint32_t wait)
{
    bool is_counted = wait <= gate_thread.waits;
    if (is_counted)
        gate_end_wait();
    return is_counted;
}

uint32_t gate_forget_waits(void)
{
    uint32_t count = gate_thread.waits;
    while (gate_thread.waits != 0)
        gate_end_wait();
    return count;
}

void gate_wait_for_turn(int64_t timeout_ns)
{
    uint32_t count = atomic_load_explicit(&gate.keep_out, memory_order_relaxed);
    if (count == 0)
        return;
    atomic_store_explicit(&gate.engine_sleeps, 1, memory_order_seq_cst);
    count = atomic_load_explicit(&gate.keep_out, memory_order_seq_cst);
    if (count != 0)
        base_futex_wait(&gate.keep_out, count, timeout_ns);
    atomic_store_explicit(&gate.engine_sleeps, 0, memory_order_relaxed);
}

void gate_forked_child(void)
{
    atomic_store_explicit(&gate.lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&gate.inside, 0, memory_order_relaxed);
    atomic_store_explicit(&gate.keep_out, 0, memory_order_relaxed);
    atomic_store_explicit(&gate.open, 0, memory_order_relaxed);
    atomic_store_explicit(&gate.holders, 0, memory_order_relaxed);
    gate_thread.depth = 0;
    gate_thread.waits = 0;
    gate_thread.is_open = gate_thread.is_holder = false;
    signals_deliver();
}
