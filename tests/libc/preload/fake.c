/* SPDX-License-Identifier: MIT */
/* Stands in for the layers behind libc's entries: notes what they were asked,
 * and releases the test's held memory when asked to wait for it. */
#include "fake.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/descriptors.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/sockets.h"
#include "libc/allocate.h"
#include "libc/mpi_names.h"
#include "libc/real.h"
#include "libc/signals.h"
#include "libc/stacks.h"
#include "libc/threads.h"
#include "op/busy.h"
#include "op/lifetime.h"
#include "op/registrars.h"
#include "op/session.h"
#include "op/transfer.h"
#include "op/wait.h"
#include "protect/memory.h"
#include "protect/memory_kept.h"

/* As MPI_Init does. */
__attribute__((constructor)) static void fake_start(void)
{
    libc_allocate_follow();
    libc_signals_watch();
    libc_stacks_watch();
    libc_real_load();
}

bool memory_mapping_find(uintptr_t address, struct memory_mapping *mapping)
{
    mapping->range = (struct range){address, address + 1};
    return true;
}

_Atomic uint32_t protect_armed_count;
_Thread_local struct gate_thread gate_thread;
struct fake_notes fake_notes;

static struct range held;
static struct sigaction shown_action;

void fake_hold(void *address, size_t length_bytes, int rights, bool is_armed)
{
    held = base_range_of(address, length_bytes);
    memset(&fake_notes, 0, sizeof(fake_notes));
    mprotect(address, length_bytes, rights);
    protect_armed_count = is_armed;
}

void fake_release(void)
{
    protect_armed_count = 0;
    mprotect((void *)held.low, held.high - held.low, PROT_READ | PROT_WRITE);
}

void wait_call_range(struct range bytes, bool is_read)
{
    errno = EDOM; /* the entries promise to keep the program's errno */
    if (!base_ranges_overlap(bytes, held))
        return;
    fake_notes.low = bytes.low;
    fake_notes.high = bytes.high;
    fake_notes.is_read = is_read;
    fake_notes.range_waits++;
    fake_release();
}

bool memory_is_heap(struct range bytes)
{
    return false;
}

bool memory_is_variable(struct range bytes)
{
    return false;
}

void memory_kept_note_change(void)
{
    fake_notes.change_count++;
}

uint64_t protect_armed_find(struct range bytes, bool allow_read)
{
    return protect_armed_count != 0 && base_ranges_overlap(bytes, held);
}

bool protect_armed_is_receiving(void)
{
    return protect_armed_count != 0;
}

bool protect_armed_is_elsewhere(void)
{
    return protect_armed_count != 0;
}

void wait_all(void)
{
    errno = EDOM;
    fake_notes.all_waits++;
    fake_release();
}

void wait_known(void)
{
    wait_all();
}

void wait_copied(void)
{
    wait_all();
}

void transfer_wait_unmatched_unless_interrupted(void)
{
}

void transfer_let_go_all(void)
{
}

void transfer_wait_due_unless_interrupted(void)
{
    wait_all();
}

void protect_threads_set(bool several)
{
    fake_notes.several_threads += several;
}

bool protect_system_calls_fail(void)
{
    return true;
}

bool protect_held_calls_fail(void)
{
    return true;
}

static bool calls_wait;

void fake_let_calls_wait(void)
{
    calls_wait = true;
}

bool protect_system_calls_must_wait(void)
{
    return !calls_wait;
}

void protect_fork_begin(void)
{
    fake_notes.forks_begun++;
}

void protect_fork_end(void)
{
    fake_notes.forks_ended++;
}

void protect_signal_opens(void)
{
    fake_notes.opened_count++;
}

int protect_signal_disposition(const struct sigaction *new_action, struct sigaction *old_action)
{
    if (!fake_notes.shares_signals)
        return ENOSYS;
    if (old_action)
        *old_action = shown_action;
    if (new_action)
        shown_action = *new_action;
    return 0;
}

void fake_drain(bool is_on)
{
    options.drain_system_calls = is_on;
}

void fake_look_at_threads(void)
{
    libc_threads_look();
}

void fake_enter_existing_threads(void)
{
    libc_threads_look();
    libc_stacks_enter_existing();
}

bool fake_is_on_stack(const void *address, size_t length_bytes)
{
    return libc_stacks_contain(base_range_of(address, length_bytes));
}

int fake_own(int descriptor)
{
    return base_descriptor_own(descriptor);
}

struct straight straight;

void gate_drop_rights(void)
{
}

void gate_defer_signals(void)
{
    fake_notes.deferring_count++;
}

void engine_heap_wait(void)
{
}

void engine_sockets_add(int descriptor)
{
    errno = EDOM;
    fake_notes.socket_count++;
    fake_notes.socket_last = descriptor;
}

static void objects_adjust(void)
{
    fake_notes.hide_count++;
}

static bool are_unseen(const char *name)
{
    return strncmp(name, "PMPI_", 5) == 0;
}

static const void *unknown_entry(const char *name)
{
    return NULL;
}

static bool is_unknown(const char *name, const void *function)
{
    return false;
}

void session_share_memory(uintptr_t caller)
{
}

void session_meet_thread(uintptr_t code)
{
}

void session_meet_unknown_thread(void)
{
}

void session_meet_key(void)
{
    fake_notes.key_count++;
}

void session_meet_registration(void)
{
    fake_notes.registration_count++;
}

bool registrars_include(const char *name)
{
    return strcmp(name, "cuMemHostRegister_v2") == 0;
}

void session_refuse_bypass(void)
{
    fake_notes.bypass_count++;
}

static bool are_offered(const char *name)
{
    return false;
}

void lifetime_forked_child(void)
{
    fake_notes.forked_count++;
}

void session_meet_filter(void)
{
    fake_notes.all_waits++;
}

void transfer_wait_readable(void)
{
    fake_notes.all_waits++;
}

void session_meet_watcher(void)
{
    fake_notes.watcher_count++;
}

void transfer_leave_waits(void)
{
    fake_notes.left_count++;
}

void lifetime_exit(void)
{
    if (fake_notes.exit_word)
        ++*fake_notes.exit_word;
}

void session_note_closed(unsigned number)
{
    (void)number;
}

static const void *entry(const char *name)
{
    (void)name;
    return NULL;
}

static bool is_past_entry(const char *name, const void *function)
{
    (void)name;
    (void)function;
    return false;
}

static bool are_followed(const char *name)
{
    (void)name;
    return false;
}

static void opens_deep(const char *path)
{
    (void)path;
}

static void forked_child(void)
{
}

const struct mpi_names mpi_names = {
    .objects_adjust = objects_adjust,
    .are_offered = are_offered,
    .are_unseen = are_unseen,
    .unknown_entry = unknown_entry,
    .is_unknown = is_unknown,
    .entry = entry,
    .is_past_entry = is_past_entry,
    .are_followed = are_followed,
    .opens_deep = opens_deep,
    .forked_child = forked_child,
};
