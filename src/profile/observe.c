/* SPDX-License-Identifier: MIT */
#include "profile/observe.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "profile/caller.h"
#include "op/host.h"
#include "op/judge.h"
#include "op/neighbours.h"
#include "profile/profile_thread.h"
#include "profile/slack.h"
#include "op/requests.h"

/* FAULT_NS: what a
 * fault and its handler cost, measured on the reference machine. AGE_MAX_NS: a buffer that was not
 * touched for so long makes way when there is no free watch. */
enum { FAULT_NS = 6000, AGE_MAX_NS = 500000000 };
enum { TOUCHES_MAX = 24, REASONS_MAX = 32 };
/* Of one buffer that is sent again and again. */
enum { CALLS_MAX = 8 };

/* ROW_GAP_PART: calls stand in a row when no more than this part of the first one's time lies between them.
 * PUT_OFF_MOST: calls that go by before a sample. */
enum { ROW_GAP_PART = 8, PUT_OFF_MOST = 7 };

/* What a run would make of a call. received: the pages that it would hold, which no other call may use; empty: none.
 * received_bytes: what lies beside them on their pages can be sent. Pages of a send hinder one call: then the site's
 * sends go from copies. */
struct foreseen {
    bool is_large;
    enum reason reason;
    struct range received;
    struct range received_bytes;
};

struct traffic {
    uint64_t sent_bytes;
    uint64_t received_bytes;
};

/* A call, and those behind it that a run would begin while the first one's messages are under way. length_ns: how long
 * the first one took; behind_ns: the others. */
struct row {
    struct traffic own;
    struct traffic behind;
    int64_t length_ns;
    int64_t behind_ns;
    bool is_over;
};

/* What is known of a call whose buffer is watched. Filled between watch_take() and watch_arm(); read by the thread that
 * claims the watch.
 * hindered_ns: the first call that would have waited for what is held, 0: none; by who makes that call. */
struct observed {
    struct profile_format_site *site;
    const struct profile_thread *thread;
    _Atomic int64_t returned_ns; /* taken again once the watch is armed */
    int64_t inside_ns;
    struct foreseen foreseen;
    struct row row;
    _Atomic int64_t hindered_ns;
};

/* Written by the thread that touches, once. inside_ns: of that thread, so far. */
struct touch {
    const struct profile_thread *thread;
    int64_t touched_ns;
    int64_t inside_ns;
    uintptr_t place;
};

/* One watch. Calls that send the same buffer wait for the same write: the oldest comes first. sent: that buffer; empty
 * where the watch is one call's alone. Filled as its calls. */
struct watched {
    struct observed calls[CALLS_MAX];
    int call_count;
    struct range sent;
    struct touch touch;
};

static struct {
    struct watched watched[WATCHES_MAX];
    bool is_on;                     /* written at start and stop */
    _Atomic uint64_t sampled_sites; /* sites that were sampled at least once; relaxed */
} observe;

static int64_t returned_of(const struct observed *observed)
{
    return atomic_load_explicit(&observed->returned_ns, memory_order_relaxed);
}

/* Inside MPI, the touch came when the call began that it is in. */
static void note_touch(int watch, int64_t now_ns, uintptr_t place)
{
    const struct profile_thread *thread = &profile_thread;
    bool is_in_call = thread->frame != 0;
    observe.watched[watch].touch = (struct touch){
        .thread = thread,
        .touched_ns = is_in_call ? thread->begun_ns : now_ns,
        .inside_ns = thread->inside_ns,
        .place = is_in_call ? thread->caller : place,
    };
}

/* Time that the program computed since the call returned. */
static int64_t computation_of(const struct observed *observed, const struct touch *touch)
{
    int64_t inside_ns = observed->thread == touch->thread ? touch->inside_ns - observed->inside_ns : 0;
    return touch->touched_ns - returned_of(observed) - inside_ns;
}

/* Signal context. The record's addresses are return addresses: the code stands before them. */
static void touched(int watch, uintptr_t address, const struct context_place *place)
{
    bool is_call = false;
    uintptr_t found = caller_of_access(place->instruction, place->stack, &is_call);
    note_touch(watch, base_clock_now_ns(), is_call ? found : found + 1);
}

void observe_start(bool is_wanted)
{
    if (!is_wanted || !protect_start_watches())
        return;
    watch_report_to(touched);
    observe.is_on = true;
}

/* --- rows of calls --- */

static uint64_t at_once(struct traffic traffic)
{
    return traffic.sent_bytes < traffic.received_bytes ? traffic.sent_bytes : traffic.received_bytes;
}

static struct traffic add_traffic(struct traffic one, struct traffic other)
{
    return (struct traffic){one.sent_bytes + other.sent_bytes, one.received_bytes + other.received_bytes};
}

static void traffic_add_buffer(struct traffic *traffic, const struct observe_buffer *buffer)
{
    if (buffer->is_received)
        traffic->received_bytes += buffer->length_bytes;
    else
        traffic->sent_bytes += buffer->length_bytes;
}

static struct traffic traffic_of(const struct observe_buffers *call)
{
    struct traffic traffic = {0, 0};
    for (int i = 0; i < call->count && call->are_messages; i++)
        traffic_add_buffer(&traffic, &call->buffers[i]);
    return traffic;
}

/* What travels at once in the whole row, less what would without its first call, and less what the call lets travel at
 * once by itself: over all calls of a row these add up to what is spared of it. */
static uint64_t spared_bytes(const struct row *row)
{
    return at_once(add_traffic(row->own, row->behind)) - at_once(row->behind) - at_once(row->own);
}

static void add_row(struct profile_format_site *site, const struct row *row)
{
    struct traffic own = row->own;
    uint64_t length_bytes = own.sent_bytes > own.received_bytes ? own.sent_bytes : own.received_bytes;
    if (length_bytes != 0)
        profile_file_cell_add(site, PROFILE_ROW, 0, 1, length_bytes, spared_bytes(row));
}

/* The call that has just returned stands behind the one that is watched. */
static void row_extend(struct observed *observed, struct traffic traffic)
{
    struct row *row = &observed->row;
    int64_t between_ns = profile_thread.begun_ns - returned_of(observed) - row->behind_ns;
    row->is_over |= between_ns > row->length_ns / ROW_GAP_PART;
    row->is_over |= atomic_load_explicit(&observed->hindered_ns, memory_order_relaxed) != 0;
    if (row->is_over)
        return;
    row->behind = add_traffic(row->behind, traffic);
    row->behind_ns += profile_thread.returned_ns - profile_thread.begun_ns;
}

static void extend_rows_of(struct watched *watched, struct traffic traffic)
{
    for (int i = 0; i < watched->call_count; i++)
        if (watched->calls[i].thread == &profile_thread)
            row_extend(&watched->calls[i], traffic);
}

static void extend_rows(struct traffic traffic)
{
    for (int watch = 0; watch < WATCHES_MAX && protect_armed_is_any(); watch++)
        if (watch_is_armed(watch))
            extend_rows_of(&observe.watched[watch], traffic);
}

static void add_ways(struct profile_format_site *site, struct traffic traffic)
{
    if (traffic.sent_bytes != 0)
        profile_file_cell_add(site, PROFILE_WAY, 0, 2, traffic.sent_bytes, 0);
    if (traffic.received_bytes != 0)
        profile_file_cell_add(site, PROFILE_WAY, 1, 2, traffic.received_bytes, 0);
}

/* --- samples --- */

/* Smaller messages are passed, whatever their memory. */
static void add_foreseen(struct profile_format_site *site, const struct foreseen *foreseen, bool is_hindered)
{
    bool is_held = foreseen->reason == REASON_NONE && !is_hindered;
    enum reason reason = foreseen->reason == REASON_NONE ? REASON_OVERLAPPING_BUFFERS : foreseen->reason;
    if (foreseen->is_large)
        profile_file_cell_add(site, PROFILE_HELD, is_held ? REASON_NONE : reason, REASONS_MAX, 0, 0);
}

/* Was there little to overlap with before another call would have waited? */
static bool was_hindered(const struct observed *observed, int64_t wall_ns)
{
    int64_t hindered_ns = atomic_load_explicit(&observed->hindered_ns, memory_order_relaxed);
    return hindered_ns != 0 && hindered_ns - returned_of(observed) < wall_ns / 2;
}

static void add_sample(const struct observed *observed, const struct touch *touch, bool is_censored)
{
    struct profile_format_site *site = observed->site;
    int64_t wall_ns = touch->touched_ns - returned_of(observed);
    wall_ns = wall_ns > 0 ? wall_ns : 0;
    const struct foreseen *foreseen = &observed->foreseen;
    bool is_hindered = was_hindered(observed, wall_ns);
    add_foreseen(site, foreseen, is_hindered);
    if (foreseen->is_large && foreseen->reason == REASON_NONE && !is_hindered)
        add_row(site, &observed->row);
    slack_add(site, returned_of(observed), wall_ns, computation_of(observed, touch));
    if (is_censored)
        profile_file_add(&site->censored_count, 1);
    else
        profile_file_cell_add(site, PROFILE_TOUCH, (int64_t)touch->place, TOUCHES_MAX, (uint64_t)wall_ns, 0);
}

static void add_samples(const struct watched *watched, bool is_censored)
{
    for (int i = 0; i < watched->call_count; i++)
        add_sample(&watched->calls[i], &watched->touch, is_censored);
    if (!is_censored && !caller_is_known(watched->touch.place - 1))
        caller_modules_read();
}

/* Of a claimed watch. `place`: who ends it where it was not touched; 0: nobody, its time is over. */
static void end_claimed(int watch, bool is_touched, uintptr_t place)
{
    if (!is_touched)
        note_touch(watch, base_clock_now_ns(), place);
    add_samples(&observe.watched[watch], !is_touched && place == 0);
    watch_free(watch);
}

static void end_watch(int watch, uintptr_t place)
{
    bool is_touched;
    if (watch_claim(watch, &is_touched))
        end_claimed(watch, is_touched, place);
}

void observe_harvest_all(void)
{
    for (int watch = 0; watch < WATCHES_MAX; watch++) {
        bool is_touched;
        if (watch_is_touched(watch) && watch_claim(watch, &is_touched))
            end_claimed(watch, true, 0);
    }
}

enum use { USE_WRITES, USE_READS, USE_SENDS };

/* A large send from beside what is held goes from a copy, or moves. */
static bool would_hinder(const struct observed *observed, struct range bytes, enum use use)
{
    const struct foreseen *foreseen = &observed->foreseen;
    bool may_lie_beside = use == USE_SENDS && bytes.high - bytes.low >= options.threshold_bytes;
    return base_ranges_overlap(may_lie_beside ? foreseen->received_bytes : foreseen->received, bytes);
}

/* A watch sees touches of the buffer itself; a hold lets nobody use the rest of its pages either. Several calls of one
 * watch are sends, which hinder nobody. */
static void note_hindered(struct range bytes, enum use use)
{
    int64_t now_ns = profile_thread.frame != 0 ? profile_thread.begun_ns : base_clock_now_ns();
    for (int watch = 0; watch < WATCHES_MAX; watch++) {
        struct observed *observed = &observe.watched[watch].calls[0];
        int64_t never = 0;
        if (watch_is_armed(watch) && would_hinder(observed, bytes, use))
            atomic_compare_exchange_strong_explicit(&observed->hindered_ns, &never, now_ns, memory_order_relaxed,
                                                    memory_order_relaxed);
    }
}

static void end_watches(struct range bytes, bool is_read, uintptr_t frame)
{
    bool is_call = false;
    for (int watch = watch_find(0, bytes, is_read); watch != WATCH_NONE; watch = watch_find(watch + 1, bytes, is_read))
        end_watch(watch, caller_of_access((uintptr_t)observe_use_range, frame, &is_call));
    watch_await_opening(bytes, is_read); /* last: by now other threads end what this one has not found armed */
}

static void use_range(struct range bytes, enum use use, uintptr_t frame)
{
    if (!observe.is_on)
        return;
    note_hindered(bytes, use);
    end_watches(bytes, use != USE_WRITES, frame);
}

void observe_use_range(struct range bytes, bool is_read)
{
    use_range(bytes, is_read ? USE_READS : USE_WRITES, (uintptr_t)__builtin_frame_address(0));
}

/* What a call uses has been told before it began (mpi/measures.py). */
void observe_use_again(struct range bytes, bool is_read)
{
    if (profile_thread.frame == 0)
        observe_use_range(bytes, is_read);
    else
        end_watches(bytes, is_read, (uintptr_t)__builtin_frame_address(0));
}

void observe_use_sent(struct range bytes)
{
    use_range(bytes, USE_SENDS, (uintptr_t)__builtin_frame_address(0));
}

void observe_use_all(void)
{
    struct range everything = {1, UINTPTR_MAX};
    observe_use_range(everything, false);
}

void observe_stop(void)
{
    if (!observe.is_on)
        return;
    observe_harvest_all();
    for (int watch = 0; watch < WATCHES_MAX; watch++)
        end_watch(watch, 0);
    observe.is_on = false;
    protect_stop();
}

/* --- sampling --- */

/* Pages that are the buffer's alone can always be watched. Those at its ends only when nothing of
 * MPI's or of another thread's lies there that a system call could meet. */
static enum reason find_pages(const struct observe_buffer *buffer, enum reason neighbours, struct range *pages)
{
    bool are_others = host.threads_are_several() && !host.pages_are_filled(buffer->bytes);
    bool may_share = neighbours == REASON_NONE && !profile_file.is_shared && !are_others;
    *pages = may_share ? base_pages_of(buffer->bytes) : base_pages_within(buffer->bytes);
    bool may_receive = buffer->may_hide_gaps && requests_touch(*pages);
    if (requests_are_unknown() || host.thread_owns(*pages) || may_receive || (buffer->has_gaps && !may_share))
        return neighbours == REASON_NONE ? REASON_MEMORY_NEIGHBOURS : neighbours;
    return base_range_is_empty(*pages) ? REASON_MEMORY_NEIGHBOURS : REASON_NONE;
}

static enum reason prepare_part(const struct observe_buffer *buffer, enum reason neighbours, struct watch_part *part)
{
    part->bytes = buffer->bytes;
    part->forbids_reads = buffer->is_received;
    return find_pages(buffer, neighbours, &part->pages);
}

/* The buffer, where all that the call has is one that it sends. */
static struct range sent_alone(const struct observe_buffers *call)
{
    bool is_alone = call->count == 1 && !call->buffers[0].is_received;
    return is_alone ? call->buffers[0].bytes : (struct range){0, 0};
}

static bool are_same(struct range one, struct range other)
{
    return one.low == other.low && one.high == other.high && !base_range_is_empty(one);
}

/* The call's own use has ended what it touched (measure.h). What is still watched there was sent, and is sent again, or
 * lies beside it: nobody wrote it. Returns the watch of the same buffer, claimed, whose calls can be watched on; of the
 * other ones no more is known. */
static int make_way(struct range pages, struct range sent)
{
    int same = WATCH_NONE;
    for (int watch = watch_find(0, pages, false); watch != WATCH_NONE; watch = watch_find(watch + 1, pages, false)) {
        bool is_touched;
        if (!watch_claim(watch, &is_touched))
            continue;
        if (!is_touched && same == WATCH_NONE && are_same(observe.watched[watch].sent, sent))
            same = watch;
        else
            end_claimed(watch, is_touched, 0);
    }
    return same;
}

static enum reason check_parts(const struct watch_part parts[], int count)
{
    enum reason reason = REASON_NONE;
    for (int i = 0; i < count && reason == REASON_NONE; i++)
        reason = protect_memory_check_to_watch(parts[i].pages);
    return reason;
}

/* --- what a run would do --- */

/* Where another buffer is watched the rights of a shared page say nothing. */
static enum reason foresee_buffer(const struct observe_buffer *buffer, enum reason neighbours)
{
    bool is_watched = watch_find(0, base_pages_of(buffer->bytes), false) != WATCH_NONE;
    struct judge_foreseen call = {
        .bytes = buffer->bytes,
        .memory = is_watched ? base_pages_within(buffer->bytes) : buffer->bytes,
        .neighbours = neighbours,
        .is_sent = !buffer->is_received,
    };
    return judge_foresee(&call);
}

static bool is_large(const struct observe_buffer *buffer)
{
    return buffer->bytes.high - buffer->bytes.low >= options.threshold_bytes;
}

/* Of an exchange the send would go from a copy. */
static bool are_entangled(const struct observe_buffers *call)
{
    return call->are_one_op && call->count == 2 &&
           base_ranges_overlap(base_pages_of(call->buffers[0].bytes), base_pages_of(call->buffers[1].bytes));
}

static void foresee_part(struct foreseen *foreseen, const struct observe_buffer *buffer, enum reason neighbours)
{
    if (!is_large(buffer))
        return;
    foreseen->is_large = true;
    if (foreseen->reason == REASON_NONE)
        foreseen->reason = foresee_buffer(buffer, neighbours);
    if (buffer->is_received) {
        foreseen->received = base_pages_of(buffer->bytes);
        foreseen->received_bytes = buffer->bytes;
    }
}

/* A call returns early with all of its buffers or not at all. */
static struct foreseen foresee(const struct observe_buffers *call, const enum reason neighbours[])
{
    struct foreseen foreseen = {.reason = REASON_NONE};
    for (int i = 0; i < call->count; i++)
        foresee_part(&foreseen, &call->buffers[i], neighbours[i]);
    if (foreseen.reason == REASON_NONE && are_entangled(call))
        foreseen.reason = REASON_OVERLAPPING_BUFFERS;
    return foreseen;
}

/* --- watches --- */

/* A watch that nobody touched for long makes way. */
static int take_watch(int64_t now_ns)
{
    int watch = watch_take();
    for (int i = 0; i < WATCHES_MAX && watch == WATCH_NONE; i++) {
        if (now_ns - returned_of(&observe.watched[i].calls[0]) < AGE_MAX_NS)
            continue;
        end_watch(i, 0);
        watch = watch_take();
    }
    return watch;
}

/* The oldest call of a full watch makes way: it has been watched for long. */
static struct observed *add_call(int watch)
{
    struct watched *watched = &observe.watched[watch];
    if (watched->call_count == CALLS_MAX) {
        note_touch(watch, base_clock_now_ns(), 0);
        add_sample(&watched->calls[0], &watched->touch, true);
        watched->call_count--;
        for (int i = 0; i < watched->call_count; i++)
            watched->calls[i] = watched->calls[i + 1];
    }
    return &watched->calls[watched->call_count++];
}

/* A call to watch, before it is. */
struct wanted {
    struct profile_format_site *site;
    const struct observe_buffers *call;
    struct foreseen foreseen;
    struct watch_part parts[WATCH_PARTS_MAX];
};

static struct observed *describe(int watch, const struct wanted *wanted)
{
    struct observed *observed = add_call(watch);
    observed->site = wanted->site;
    observed->foreseen = wanted->foreseen;
    observed->row = (struct row){.own = traffic_of(wanted->call),
                                 .length_ns = profile_thread.returned_ns - profile_thread.begun_ns};
    atomic_store_explicit(&observed->hindered_ns, 0, memory_order_relaxed);
    observed->thread = &profile_thread;
    observed->inside_ns = profile_thread.inside_ns;
    atomic_store_explicit(&observed->returned_ns, base_clock_now_ns(), memory_order_relaxed);
    return observed;
}

/* The time of arming is not the program's: its slack begins afterwards. */
static enum reason arm(int watch, const struct wanted *wanted)
{
    struct observed *observed = describe(watch, wanted);
    observe.watched[watch].sent = sent_alone(wanted->call);
    if (!watch_arm(watch, wanted->parts, wanted->call->count))
        return REASON_MEMORY_FAILED;
    profile_thread.returned_ns = base_clock_now_ns();
    atomic_store_explicit(&observed->returned_ns, profile_thread.returned_ns, memory_order_relaxed);
    return REASON_NONE;
}

static enum reason arm_new(const struct wanted *wanted)
{
    int watch = take_watch(profile_thread.returned_ns);
    if (watch == WATCH_NONE)
        return REASON_TOO_MANY_OPS;
    observe.watched[watch].call_count = 0;
    return arm(watch, wanted);
}

/* Also for the calls before, which have been claimed. */
static enum reason arm_again(int watch, const struct wanted *wanted)
{
    watch_take_again(watch);
    return arm(watch, wanted);
}

static enum reason prepare(struct wanted *wanted, const enum reason neighbours[])
{
    enum reason reason = REASON_NONE;
    for (int i = 0; i < wanted->call->count && reason == REASON_NONE; i++)
        reason = prepare_part(&wanted->call->buffers[i], neighbours[i], &wanted->parts[i]);
    return reason;
}

/* Returns the claimed watch of the same buffer, if any. */
static int make_way_for(const struct wanted *wanted)
{
    int same = WATCH_NONE;
    struct range sent = sent_alone(wanted->call);
    for (int i = 0; i < wanted->call->count && same == WATCH_NONE; i++)
        same = make_way(wanted->parts[i].pages, sent);
    return same;
}

static enum reason watch_call(const struct wanted *wanted, int same)
{
    enum reason reason = check_parts(wanted->parts, wanted->call->count);
    if (reason == REASON_NONE)
        return same != WATCH_NONE ? arm_again(same, wanted) : arm_new(wanted);
    if (same != WATCH_NONE)
        end_claimed(same, false, 0);
    return reason;
}

static enum reason sample(struct profile_format_site *site, const struct observe_buffers *call)
{
    struct wanted wanted = {.site = site, .call = call};
    enum reason neighbours[WATCH_PARTS_MAX];
    for (int i = 0; i < call->count; i++)
        neighbours[i] = neighbours_check(call->buffers[i].bytes, call->buffers[i].has_gaps, false);
    enum reason reason = prepare(&wanted, neighbours);
    int same = reason == REASON_NONE ? make_way_for(&wanted) : WATCH_NONE;
    wanted.foreseen = foresee(call, neighbours);
    if (reason == REASON_NONE)
        reason = watch_call(&wanted, same);
    if (reason != REASON_NONE) /* else at the touch */
        add_foreseen(site, &wanted.foreseen, false);
    return reason;
}

static uint32_t random_bits(void)
{
    uint32_t state = profile_thread.jitter != 0 ? profile_thread.jitter : 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    profile_thread.jitter = state;
    return state;
}

/* 0.5 to 1.5, so that samples keep no step with the program's own rhythm. */
static double jitter(void)
{
    return 0.5 + (double)random_bits() / (double)UINT32_MAX;
}

/* A site rests so many times as long as its last sample cost, times the number of sites that are
 * sampled: together they take no more than their share of the time. */
static void rest(struct profile_format_site *site, int64_t cost_ns, int64_t now_ns)
{
    if (atomic_load_explicit(&site->next_watch_ns, memory_order_relaxed) == 0)
        atomic_fetch_add_explicit(&observe.sampled_sites, 1, memory_order_relaxed);
    uint64_t sites = atomic_load_explicit(&observe.sampled_sites, memory_order_relaxed);
    double rest_ns = (double)cost_ns * 1000 / (double)options.profile_cost * (double)sites * jitter();
    atomic_store_explicit(&site->next_watch_ns, (uint64_t)(now_ns + (int64_t)rest_ns), memory_order_relaxed);
    profile_file_add(&profile_file.header->watch_cost_ns, (uint64_t)cost_ns);
}

/* The first call after a rest is mostly one that takes long, and in a loop the same one. So some more go by, up to as
 * many as the rest has let go by. */
static bool is_put_off(struct profile_format_site *site)
{
    uint64_t rested = atomic_load_explicit(&site->rested_count, memory_order_relaxed);
    if (rested != 0) {
        uint64_t most = rested < PUT_OFF_MOST ? rested : PUT_OFF_MOST;
        atomic_store_explicit(&site->put_off_count, random_bits() % (most + 1), memory_order_relaxed);
        atomic_store_explicit(&site->rested_count, 0, memory_order_relaxed);
    }
    uint64_t left = atomic_load_explicit(&site->put_off_count, memory_order_relaxed);
    if (left != 0)
        atomic_store_explicit(&site->put_off_count, left - 1, memory_order_relaxed);
    return left != 0;
}

/* Is it time for a sample of this site? */
static bool is_due(struct profile_format_site *site, int64_t now_ns)
{
    if ((uint64_t)now_ns >= atomic_load_explicit(&site->next_watch_ns, memory_order_relaxed))
        return !is_put_off(site);
    profile_file_add(&site->rested_count, 1);
    return false;
}

void observe_call(struct profile_format_site *site, const struct observe_buffers *call)
{
    if (!observe.is_on || site == NULL)
        return;
    profile_file_add(&site->large_count, 1);
    struct traffic traffic = traffic_of(call);
    add_ways(site, traffic);
    if (call->are_messages)
        extend_rows(traffic);
    int64_t begun_ns = profile_thread.returned_ns;
    if (!is_due(site, begun_ns))
        return;
    enum reason reason = sample(site, call);
    int64_t now_ns = base_clock_now_ns();
    int64_t spent_ns = now_ns - begun_ns;
    profile_file_add(&site->watch_tried_count, 1);
    if (reason == REASON_NONE) {
        profile_file_add(&profile_file.header->watch_count, 1);
        rest(site, 2 * spent_ns + FAULT_NS, now_ns); /* opening costs about as much as closing */
        return;
    }
    profile_file_add(&site->watch_refused_count, 1);
    profile_file_cell_add(site, PROFILE_PASS, reason, REASONS_MAX, 0, 0);
    rest(site, spent_ns, now_ns);
}

void observe_forked_child(void)
{
    observe.is_on = false;
    watch_forked_child();
}
