/* SPDX-License-Identifier: MIT */
/* MPI_Bsend and MPI_Ibsend (MPI 4.1, 3.4 and 3.7.2), and the buffer that they copy into (3.6).
 *
 * With MPI alone a large message that has been copied only moves while the sender is inside MPI. MPI does not tell when
 * it has gone, so that the engine would have to look for ever. So a large one is copied into memory of ours instead,
 * and sent by MPI_Isend; the engine lets it progress until its request is over. It is no op: a buffered send may wait
 * for a receiver that needs this process's next calls, so none of them waits for it but those that wait for the buffer.
 *
 * That a program has attached too small a buffer is an error as before: what is under way counts against its room.
 * A program may take its receiver's answer as proof that there is room again (MPI 4.1, 3.6), but a receive that has
 * returned early is answered before. So who finds no room waits for it, for a time.
 * Which buffer MPI takes, where a communicator or a session has one, is not known here; nor can MPI's request of
 * MPI_Buffer_iflush end with what is under way here. Then all is left to MPI. */
#include "mpi/message/buffered.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/object.h"
#include "base/pages.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "mpi/errors.h"
#include "mpi/message/message.h"
#include "mpi/progress.h"
#include "mpi/request/freed.h"
#include "op/assist.h"
#include "op/copies.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/transfer.h"
#include "policy/policy.h"
#include "record/record.h"

/* What each message needs of the attached buffer beside its bytes (MPI_BSEND_OVERHEAD) differs within an ABI: the least
 * is Intel MPI's. */
enum { BUFFERED_MAX = 64, OVERHEAD_LEAST_BYTES = 88 };

struct buffered_send {
    MPI_Request request;
    struct errors_home home;
    void *copy;
    uint64_t bytes; /* of the attached buffer */
    struct assist assist;
    bool is_helped; /* by the engine */
};

/* All under the lock, but for looks at the count; [0, count) are under way, and `tested` others, which are being
 * tested; `claimed` are or are about to be. attached_bytes: of the process's buffer; 0: none, or one whose length MPI
 * alone knows. is_in_vain: the last wait for room was. The last two: any thread. may_be_flushed: somebody calls
 * MPI_Buffer_iflush. loads_seen: when that was asked last. */
static struct {
    struct gate_lock lock;
    _Atomic uint32_t count;
    uint32_t tested;
    uint32_t claimed;
    uint64_t attached_bytes;
    uint64_t used_bytes;
    bool is_in_vain;
    struct buffered_send sends[BUFFERED_MAX];
    _Atomic bool may_be_flushed;
    _Atomic unsigned long long loads_seen;
} buffered;

/* --- those that are under way --- */

static uint32_t buffered_count(void)
{
    return atomic_load_explicit(&buffered.count, memory_order_relaxed); /* a look, or under the lock */
}

static void buffered_count_set(uint32_t count)
{
    atomic_store_explicit(&buffered.count, count, memory_order_relaxed);
}

/* Room for the message in the buffer that the program has attached, as far as it is known. */
static bool buffered_claim(uint64_t bytes)
{
    gate_lock_take(&buffered.lock);
    bool is_room = buffered.claimed < BUFFERED_MAX && buffered.used_bytes + bytes <= buffered.attached_bytes;
    buffered.claimed += is_room;
    buffered.used_bytes += is_room ? bytes : 0;
    gate_lock_release(&buffered.lock);
    return is_room;
}

/* Under the lock. */
static void buffered_unclaim_locked(uint64_t bytes)
{
    buffered.claimed--;
    buffered.used_bytes -= bytes;
}

static void buffered_unclaim(uint64_t bytes)
{
    gate_lock_take(&buffered.lock);
    buffered_unclaim_locked(bytes);
    gate_lock_release(&buffered.lock);
}

/* Under the lock. Its place is claimed. */
static void buffered_add_locked(const struct buffered_send *send)
{
    buffered.sends[buffered_count()] = *send;
    buffered_count_set(buffered_count() + 1);
}

static void buffered_add(const struct buffered_send *send)
{
    gate_lock_take(&buffered.lock);
    buffered_add_locked(send);
    gate_lock_release(&buffered.lock);
}

/* To test it. False: there are not so many. Its place stays claimed. */
static bool buffered_take(uint32_t index, struct buffered_send *send)
{
    gate_lock_take(&buffered.lock);
    uint32_t last = buffered_count() - 1;
    bool is_there = index < buffered_count();
    if (is_there) {
        *send = buffered.sends[index];
        buffered.sends[index] = buffered.sends[last];
        buffered_count_set(last);
        buffered.tested++;
    }
    gate_lock_release(&buffered.lock);
    return is_there;
}

static void buffered_put_back(const struct buffered_send *send)
{
    gate_lock_take(&buffered.lock);
    buffered.tested--;
    buffered_add_locked(send);
    gate_lock_release(&buffered.lock);
}

/* Is it over? Inside the gate, without the lock: MPI may call an error handler of the program's, which may call MPI. */
static bool buffered_is_over(struct buffered_send *send)
{
    int is_over = 0;
    int result = errors_test_and_raise(&send->home, &send->request, &is_over, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS)
        late_errors_keep(result);
    return result != MPI_SUCCESS || is_over;
}

static void buffered_end_assist(struct assist *assist)
{
    if (assist->is_active)
        assist_end(assist);
}

/* Inside the gate. It is the engine's work until then, so that the last call of MPI is made before calls may go
 * straight there again. */
static void buffered_end(struct buffered_send *send)
{
    copies_give_back(send->copy);
    buffered_end_assist(&send->assist);
    gate_lock_take(&buffered.lock);
    buffered.tested--;
    buffered_unclaim_locked(send->bytes);
    gate_lock_release(&buffered.lock);
}

/* Inside the gate. From the last to the first: one that is put back comes after those that are still to be tested. */
static void buffered_sweep(void)
{
    struct buffered_send send;
    for (uint32_t i = buffered_count(); i > 0; i--) {
        if (!buffered_take(i - 1, &send))
            continue;
        if (buffered_is_over(&send))
            buffered_end(&send);
        else
            buffered_put_back(&send);
    }
}

/* Inside the gate. MPI carries them on from now on, in calls of the program's. */
static void buffered_dismiss_engine(void)
{
    gate_lock_take(&buffered.lock);
    for (uint32_t i = 0; i < buffered_count(); i++)
        buffered_end_assist(&buffered.sends[i].assist);
    gate_lock_release(&buffered.lock);
}

void buffered_poll(void)
{
    if (buffered_count() == 0)
        return;
    /* As in progress_poll(): only the program's own threads may run its functions. */
    if (session_reason() == REASON_NONE)
        buffered_sweep();
    else
        buffered_dismiss_engine();
}

/* In a function that MPI has called, one that is being tested may be what has called it. */
static bool buffered_are_over(void)
{
    gate_lock_take(&buffered.lock);
    bool are_over = buffered_count() == 0 && (buffered.tested == 0 || gate_thread.depth > 1);
    gate_lock_release(&buffered.lock);
    return are_over;
}

static int buffered_poll_all(void *unused, int *is_over)
{
    buffered_sweep();
    *is_over = buffered_are_over();
    return MPI_SUCCESS;
}

void buffered_wait_all(void)
{
    if (!buffered_are_over())
        dispatch_block(buffered_poll_all, NULL);
}

/* --- room --- */

/* Is it that messages under way take what this one needs? */
static bool buffered_is_full(uint64_t bytes)
{
    gate_lock_take(&buffered.lock);
    bool is_full = bytes <= buffered.attached_bytes && buffered.used_bytes + bytes > buffered.attached_bytes;
    gate_lock_release(&buffered.lock);
    return is_full;
}

/* A wait for room. has_room: the answer. */
struct room_wait {
    uint64_t bytes;
    int64_t end_ns;
    bool has_room;
};

/* What was in vain once is not waited for again until there is room: then the program is short of it without us, too.
 * All that is in the buffer may have to leave it. */
static int64_t room_wait_end_ns(void)
{
    gate_lock_take(&buffered.lock);
    int64_t patience_ns = buffered.is_in_vain ? 0 : freed_patience_ns(buffered.attached_bytes);
    gate_lock_release(&buffered.lock);
    return base_clock_now_ns() + patience_ns;
}

static int room_poll(void *argument, int *is_over)
{
    struct room_wait *wait = argument;
    buffered_sweep();
    wait->has_room = buffered_claim(wait->bytes);
    *is_over = wait->has_room || base_clock_now_ns() >= wait->end_ns;
    return MPI_SUCCESS;
}

static bool room_wait_run(struct room_wait *wait)
{
    wait->end_ns = room_wait_end_ns();
    dispatch_block(room_poll, wait);
    gate_lock_take(&buffered.lock);
    buffered.is_in_vain = !wait->has_room;
    gate_lock_release(&buffered.lock);
    return wait->has_room;
}

static bool buffered_claim_waiting(uint64_t bytes)
{
    if (buffered_claim(bytes))
        return true;
    return buffered_is_full(bytes) && freed_answers_may_be_early() &&
           room_wait_run(&(struct room_wait){.bytes = bytes});
}

/* --- MPI_Bsend --- */

static int buffered_pass_now(const struct message *m)
{
    return real_sized_MPI_Bsend(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, m->has_large_count);
}

static int buffered_pass(const struct message *message)
{
    if (busy_is_clear())
        return buffered_pass_now(message);
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_READS);
    dispatch_wait_others();
    dispatch_enter();
    return dispatch_leave_and_tell(buffered_pass_now(message));
}

static bool buffered_has_engine(void)
{
    if (!session_has_engine())
        return false;
    dispatch_enter();
    bool is_ready = progress_prepare();
    gate_leave();
    return is_ready;
}

/* Fortran bindings may call it by its other name. */
static bool name_is_flush(const char *name, void *unused)
{
    (void)unused;
    return strcmp(name, "MPI_Buffer_iflush") == 0 || strcmp(name, "PMPI_Buffer_iflush") == 0;
}

static int object_visit(struct dl_phdr_info *info, size_t size_bytes, void *is_found)
{
    struct object object;
    (void)size_bytes;
    *(bool *)is_found = object_read(info, &object) && object_find_undefined(&object, name_is_flush, NULL);
    return *(bool *)is_found;
}

static void flush_expect(void)
{
    atomic_store_explicit(&buffered.may_be_flushed, true, memory_order_relaxed); /* for this thread's next calls */
}

/* Does a program or library that is loaded call it? Asked again when something was loaded since. */
static bool flush_is_expected(void)
{
    if (real.MPI_Buffer_iflush == NULL)
        return false;
    unsigned long long loads = object_counts().loads;
    bool is_found = false;
    /* relaxed: nothing is published through the number. */
    if (loads != atomic_exchange_explicit(&buffered.loads_seen, loads, memory_order_relaxed))
        dl_iterate_phdr(object_visit, &is_found);
    if (is_found)
        flush_expect();
    return atomic_load_explicit(&buffered.may_be_flushed, memory_order_relaxed);
}

/* Other buffers than the process's count as memory that nobody knows, until they are detached. */
static bool buffered_is_of_process(void)
{
    return !requests_are_unknown() && !flush_is_expected();
}

/* Why it is left to MPI, or REASON_NONE. */
static enum reason buffered_judge(struct message *message)
{
    message_measure(message);
    if (message_is_small(message))
        return message_pass_small(message);
    if (!options.nonblocking)
        return REASON_SWITCHED_OFF;
    if (message->peer == MPI_PROC_NULL)
        return REASON_PROCESS_NULL;
    if (session_reason_to_begin() != REASON_NONE)
        return session_reason_to_begin();
    if (!buffered_is_of_process())
        return REASON_NO_BUFFER;
    enum reason held = message_judge_to_hold(message);
    return held == REASON_NONE || judge_may_copy(held) ? REASON_NONE : held;
}

/* One that is over at once needs no engine. */
static void buffered_start(struct message *message, struct buffered_send *send, int *result)
{
    dispatch_enter();
    if (!send->is_helped)
        buffered_sweep(); /* the engine may not look at them */
    send->home = errors_home_of(message->comm);
    send->home.comm = abi_handles.comm_world; /* the program may free the other before the message has gone */
    *result = message_start_send(message, message->buffer, &send->request);
    bool is_left = *result == MPI_SUCCESS && !buffered_is_over(send);
    if (is_left) {
        send->copy = message->copy;
        message->copy = NULL;
        if (send->is_helped)
            assist_engage(&send->assist);
        buffered_add(send);
    } else {
        buffered_unclaim(send->bytes);
    }
    gate_leave();
}

/* Where the engine takes the program's core, a call that is left to MPI shows what that takes, and so when to look
 * again. Elsewhere only the slack counts, of which it shows nothing: messages that go at once would keep those after
 * them from being carried on for ever. There one wake-up is all that help costs in vain. */
static bool buffered_is_worth(struct buffered_send *send, const struct message *message, const void *return_address)
{
    bool is_worth = assist_judge(&send->assist, message->bytes, message->range.low, return_address);
    return is_worth || !engine_is_dear();
}

/* Its place is claimed. The engine comes last: a process that has no use for it gets none. Where its help is not worth
 * it, MPI carries the message on in calls of the program's, as its own copy: from ours, where the program may take an
 * answer as proof that there is room again, for MPI would find its own copy still there. */
static enum reason buffered_prepare(struct message *message, struct buffered_send *send, const void *return_address)
{
    send->is_helped = buffered_is_worth(send, message, return_address);
    if (!send->is_helped && !freed_answers_may_be_early())
        return REASON_LEARNED;
    if (send->is_helped && !buffered_has_engine())
        return REASON_NO_ENGINE;
    return message_copy(message) ? REASON_NONE : REASON_NO_BUFFER;
}

/* What a message takes without help is what the engine's help is compared with. */
static void buffered_learn(const struct assist *assist)
{
    policy_site_saw_pass(assist->site, assist->situation, base_clock_now_ns() - assist->started_ns);
}

/* Sends from a copy. On REASON_NONE *result is the call's. */
static enum reason buffered_carry(struct message *message, struct buffered_send *send, const void *return_address,
                                  int *result)
{
    send->bytes = message->bytes + OVERHEAD_LEAST_BYTES;
    if (!buffered_claim_waiting(send->bytes))
        return REASON_NO_BUFFER;
    enum reason reason = buffered_prepare(message, send, return_address);
    if (reason == REASON_NONE)
        buffered_start(message, send, result);
    else
        buffered_unclaim(send->bytes);
    if (reason == REASON_NONE && !send->is_helped)
        buffered_learn(&send->assist);
    message_give_back(message);
    return reason;
}

static enum reason buffered_try(struct message *message, struct buffered_send *send, const void *return_address,
                                int *result)
{
    enum reason reason = buffered_judge(message);
    return reason == REASON_NONE ? buffered_carry(message, send, return_address, result) : reason;
}

int carried_MPI_Bsend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      bool has_large_count, const void *caller)
{
    struct message message = message_of((void *)buf, count, datatype, dest, tag, comm);
    message.has_large_count = has_large_count;
    struct buffered_send send = {.request = abi_handles.request_null};
    int result = MPI_SUCCESS;
    enum reason reason = buffered_try(&message, &send, caller, &result);
    if (reason == REASON_NONE)
        return late_errors_or(result);
    record_pass(reason, message.bytes);
    result = buffered_pass(&message);
    if (reason == REASON_LEARNED)
        buffered_learn(&send.assist);
    return result;
}

/* --- MPI_Ibsend --- */

static int ibsend_now(const struct message *m, MPI_Request *request)
{
    return real_sized_MPI_Ibsend(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request,
                                 m->has_large_count);
}

static int ibsend_pass(const struct message *message, MPI_Request *request, const void *return_address)
{
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_READS);
    dispatch_enter();
    int result = ibsend_now(message, request);
    if (result == MPI_SUCCESS)
        dispatch_begin_message(*request, message->buffer, message->count, message->datatype, return_address);
    return dispatch_leave(result);
}

/* The program's buffer has been copied: its request is one that is over, as MPI's own would be. */
static int ibsend_end(const struct message *message, MPI_Request *request, const void *return_address)
{
    dispatch_enter();
    int result = real.MPI_Isend(NULL, 0, abi_handles.byte, MPI_PROC_NULL, 0, message->comm, request);
    if (result == MPI_SUCCESS)
        dispatch_begin_message(*request, NULL, 0, abi_handles.byte, return_address);
    return dispatch_leave(result);
}

int carried_MPI_Ibsend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request *request, bool has_large_count, const void *caller)
{
    struct message message = message_of((void *)buf, count, datatype, dest, tag, comm);
    message.has_large_count = has_large_count;
    struct buffered_send send = {.request = abi_handles.request_null};
    int result = MPI_SUCCESS;
    dispatch_wait_argument(request, sizeof *request);
    if (buffered_try(&message, &send, caller, &result) != REASON_NONE)
        return ibsend_pass(&message, request, caller);
    return result == MPI_SUCCESS ? ibsend_end(&message, request, caller) : result;
}

/* --- the buffer: from its attachment to its detachment MPI may touch it at any time, so nothing beside it shares its
 * pages with a hold --- */

static void buffered_attached_set(uint64_t bytes)
{
    gate_lock_take(&buffered.lock);
    buffered.attached_bytes = bytes;
    buffered.is_in_vain = false;
    gate_lock_release(&buffered.lock);
}

static void buffered_track(int result, const void *buffer, MPI_Count length_bytes)
{
    struct range bytes = base_range_of(buffer, (size_t)length_bytes);
    /* MPI_BUFFER_AUTOMATIC, MPI's own memory, is no address. */
    bool is_memory = bytes.low >= base_page_bytes() && !base_range_is_empty(bytes) && bytes.high != UINTPTR_MAX;
    if (result != MPI_SUCCESS || length_bytes <= 0 || !is_memory)
        return;
    requests_track_region(bytes);
    buffered_attached_set((uint64_t)length_bytes);
}

/* The result parameter is a pointer to the buffer's address. */
static void buffered_untrack(int result, const void *buffer_address)
{
    if (result != MPI_SUCCESS)
        return;
    requests_untrack_region((uintptr_t) * (void *const *)buffer_address);
    buffered_attached_set(0);
}

int entry_MPI_Buffer_attach(void *buffer, int size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_attach(buffer, size);
    buffered_track(result, buffer, size);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_attach_c(buffer, size);
    buffered_track(result, buffer, size);
    return dispatch_leave(result);
}

static void buffered_enter_to_wait(void)
{
    transfer_wait_due();
    buffered_wait_all();
    dispatch_enter();
}

int entry_MPI_Buffer_detach(void *buffer_addr, int *size)
{
    buffered_enter_to_wait();
    int result = real.MPI_Buffer_detach(buffer_addr, size);
    buffered_untrack(result, buffer_addr);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    buffered_enter_to_wait();
    int result = real.MPI_Buffer_detach_c(buffer_addr, size);
    buffered_untrack(result, buffer_addr);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_flush(void)
{
    buffered_enter_to_wait();
    return dispatch_leave(real.MPI_Buffer_flush());
}

/* The first call after a look-up by dlsym() does not wait for what is under way: it must not wait, and MPI's request
 * does not know of it (MPI 4.1, 3.6). */
int entry_MPI_Buffer_iflush(MPI_Request *request)
{
    flush_expect();
    transfer_wait_due();
    dispatch_wait_argument(request, sizeof *request);
    dispatch_enter();
    int result = real.MPI_Buffer_iflush(request);
    if (result == MPI_SUCCESS) {
        dispatch_track(*request, NULL, 0, abi_handles.byte);
        dispatch_assist(*request, __builtin_return_address(0));
    }
    return dispatch_leave(result);
}
