/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "base/options.h"
#include "profile/slack.h"
#include "profile/caller.h"
#include "op/call_site.h"
#include "profile/observe.h"
#include "record/name.h"

/* Peers of a site that are told apart. */
enum { PEERS_MAX = 48 };

struct profile_now profile_now;
_Thread_local struct profile_thread profile_thread;

bool profile_is_wanted(void)
{
    return options.profile && record_name_folder() != NULL;
}

bool profile_start(const struct profile_file_identity *identity)
{
    if (!profile_file_open(record_name_folder(), identity))
        return false;
    caller_modules_read();
    observe_start(options.profile_slack);
    atomic_store_explicit(&profile_now.is_on, true, memory_order_relaxed);
    return true;
}

/* Ops that end now are no more part of it; libraries that came since are. */
static void picture_close(enum profile_format_state state, int64_t ended_ns)
{
    if (!atomic_exchange_explicit(&profile_now.is_drawn, false, memory_order_acq_rel))
        return;
    if (state == PROFILE_FINALIZED)
        caller_modules_read();
    profile_file_close(state, ended_ns);
}

void profile_stop(void)
{
    int64_t ended_ns = base_clock_now_ns();
    picture_close(PROFILE_FINALIZED, ended_ns);
    if (!atomic_exchange_explicit(&profile_now.is_on, false, memory_order_relaxed))
        return;
    observe_stop();
    profile_file_close(PROFILE_FINALIZED, ended_ns);
}

void profile_leave(bool is_finalized)
{
    enum profile_format_state state = is_finalized ? PROFILE_FINALIZED : PROFILE_EXITED;
    picture_close(state, base_clock_now_ns());
    if (atomic_exchange_explicit(&profile_now.is_on, false, memory_order_relaxed))
        profile_file_close(state, base_clock_now_ns());
}

void profile_fork(void)
{
    if (atomic_exchange_explicit(&profile_now.is_drawn, false, memory_order_relaxed))
        profile_file_forked_child();
    if (!atomic_exchange_explicit(&profile_now.is_on, false, memory_order_relaxed))
        return;
    observe_forked_child();
    profile_file_forked_child();
}

static void thread_begin(void)
{
    const struct profile_thread *nobody = NULL;
    profile_thread.is_begun = true;
    caller_thread_begin();
    if (!atomic_compare_exchange_strong_explicit(&profile_now.first_thread, &nobody, &profile_thread,
                                                 memory_order_relaxed, memory_order_relaxed))
        atomic_store_explicit(&profile_file.header->has_threads, 1, memory_order_relaxed);
    else
        profile_thread.returned_ns = (int64_t)profile_file.header->started_ns;
}

void profile_call_start(struct profile_call *call, uint32_t function, const void *return_address)
{
    struct profile_thread *thread = &profile_thread;
    if (!thread->is_begun)
        thread_begin();
    observe_harvest();
    thread->caller = (uintptr_t)call_site_of(return_address);
    *call = (struct profile_call){.function = function, .peer = -1, .bytes = -1, .inside_before_ns = thread->inside_ns};
    thread->begun_ns = base_clock_now_ns();
    call->before_ns = thread->returned_ns == 0 ? -1 : thread->begun_ns - thread->returned_ns;
}

/* Before the call's completions are known: they were pending until now. */
static void covered_add(int64_t before_ns)
{
    if (before_ns > 0 && profile_requests_active() > 0)
        profile_file_add(&profile_file.header->covered_ns, (uint64_t)before_ns);
}

int64_t profile_call_over(struct profile_call *call)
{
    struct profile_thread *thread = &profile_thread;
    int64_t over_ns = base_clock_now_ns();
    thread->inside_ns += over_ns - thread->begun_ns;
    thread->returned_ns = over_ns;
    covered_add(call->before_ns);
    call->site = profile_file_site_find(thread->caller, call->function, profile_function_name(call->function));
    if (call->site != NULL && !caller_is_known(thread->caller))
        caller_modules_read();
    return over_ns;
}

static void site_add(struct profile_format_site *site, const struct profile_call *call, uint64_t length_ns)
{
    uint64_t bytes = call->bytes > 0 ? (uint64_t)call->bytes : 0;
    profile_file_moments_add(&site->time, length_ns);
    if (call->before_ns >= 0)
        profile_file_moments_add(&site->before, (uint64_t)call->before_ns);
    if (call->bytes >= 0)
        profile_file_moments_add(&site->bytes, bytes);
    profile_file_cell_add(site, PROFILE_SIZE, profile_file_bits(bytes), PROFILE_BITS_MAX, bytes, length_ns);
    if (call->peer >= 0)
        profile_file_cell_add(site, PROFILE_PEER, call->peer, PEERS_MAX, bytes, 0);
}

void profile_call_end(struct profile_call *call, int64_t over_ns)
{
    struct profile_thread *thread = &profile_thread;
    int64_t length_ns = over_ns - thread->begun_ns;
    thread->frame = 0;
    atomic_store_explicit(&profile_file.header->ended_ns, (uint64_t)over_ns, memory_order_relaxed);
    if (call->site == NULL)
        return;
    site_add(call->site, call, (uint64_t)length_ns);
    struct profile_format_event event = {(uint64_t)thread->begun_ns, (uint64_t)length_ns,
                                         profile_file_site_number(call->site), PROFILE_EVENT_CALL,
                                         call->bytes > 0 ? (uint64_t)call->bytes : 0};
    profile_file_event_add(&event);
}

void profile_wait_slack(struct profile_call *call, const struct profile_completion *completion)
{
    if (completion->started_ns == 0 || call->site == NULL)
        return;
    int64_t wall_ns = profile_thread.begun_ns - completion->started_ns;
    bool is_same_thread = completion->thread == &profile_thread;
    int64_t inside_ns = is_same_thread ? call->inside_before_ns - completion->inside_at_start_ns : 0;
    slack_add(call->site, completion->started_ns, wall_ns < 0 ? 0 : wall_ns, wall_ns - inside_ns);
}
