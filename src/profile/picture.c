/* SPDX-License-Identifier: MIT */
#include "profile/picture.h"

#include <stddef.h>

#include "base/options.h"
#include "profile/caller.h"
#include "profile/profile.h"
#include "record/name.h"

/* What stands for functions: an op does not know by which call it was begun. */
static const char *const direction_names[] = {
    [POLICY_SEND] = "send",
    [POLICY_RECEIVE] = "receive",
    [POLICY_NONBLOCKING] = "nonblocking operation",
    [POLICY_COLLECTIVE] = "collective",
};

void picture_start(const struct profile_file_identity *identity)
{
    const char *directory = record_name_folder();
    if (directory == NULL || !profile_file_open(directory, identity))
        return;
    caller_modules_read();
    /* release: who finds it on finds the file. */
    atomic_store_explicit(&profile_now.is_drawn, true, memory_order_release);
}

static bool picture_is_on(void)
{
    return atomic_load_explicit(&profile_now.is_drawn, memory_order_acquire);
}

static struct profile_format_site *picture_site(const void *place, enum policy_direction direction)
{
    return profile_file_site_find((uintptr_t)place, (uint32_t)direction, direction_names[direction]);
}

static struct profile_format_event event_of(enum profile_format_event_kind kind, int64_t begin_ns, int64_t end_ns)
{
    return (struct profile_format_event){.start_ns = (uint64_t)begin_ns,
                                         .length_ns = end_ns > begin_ns ? (uint64_t)(end_ns - begin_ns) : 0,
                                         .kind = kind};
}

static void event_add(const struct profile_format_site *site, enum profile_format_event_kind kind, int64_t begin_ns,
                      int64_t end_ns, uint64_t bytes)
{
    if (begin_ns == 0)
        return;
    struct profile_format_event event = event_of(kind, begin_ns, end_ns);
    event.site = profile_file_site_number(site);
    event.bytes = bytes;
    profile_file_event_add(&event);
}

static void stages_add(const struct profile_format_site *site, const struct observer_op *op)
{
    event_add(site, PROFILE_EVENT_CALL, op->begun_ns, op->returned_ns, op->bytes);
    event_add(site, PROFILE_EVENT_OP, op->returned_ns, op->came_ns, op->bytes);
    event_add(site, PROFILE_EVENT_ANNOUNCED, op->announced_ns, op->announced_ns, op->bytes);
    event_add(site, PROFILE_EVENT_TOUCH, op->touched_ns, op->released_ns, 0);
    event_add(site, PROFILE_EVENT_RELEASE, op->came_ns, op->released_ns, op->bytes);
}

void picture_op_over(const struct observer_op *op)
{
    if (!picture_is_on())
        return;
    struct profile_format_site *site = picture_site(op->place, op->direction);
    if (site == NULL)
        return;
    int64_t lasted_ns = op->came_ns - op->returned_ns;
    profile_file_moments_add(&site->time, (uint64_t)(op->returned_ns - op->begun_ns));
    profile_file_moments_add(&site->bytes, op->bytes);
    profile_file_cell_add(site, PROFILE_OP, 0, 1, (uint64_t)op->overlapped_ns, lasted_ns > 0 ? (uint64_t)lasted_ns : 0);
    if (op->touched_ns != 0)
        profile_file_cell_add(site, PROFILE_TOUCHED, 0, 1, (uint64_t)(op->touched_ns - op->returned_ns),
                              (uint64_t)(op->released_ns - op->touched_ns));
    stages_add(site, op);
}

void picture_op_passed(const void *place, enum policy_direction direction, enum reason reason, uint64_t bytes)
{
    struct profile_format_site *site = picture_is_on() ? picture_site(place, direction) : NULL;
    if (site != NULL)
        profile_file_cell_add(site, PROFILE_PASS, (int64_t)reason, REASON_COUNT, bytes, 0);
}

void picture_engine_polled(int64_t begin_ns, int64_t end_ns)
{
    if (!picture_is_on())
        return;
    struct profile_format_event event = event_of(PROFILE_EVENT_ENGINE, begin_ns, end_ns);
    profile_file_event_add_engine(&event);
}
