/* SPDX-License-Identifier: MIT */
#include "protect/memory_kept.h"

#include <stdatomic.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/object.h"
#include "base/pages.h"
#include "protect/kernel.h"

enum { KEPT_MAX = 128, REFUSALS_MAX = 100, ENTRIES_MAX = 256 };

/* One entry of pagemap (Documentation/admin-guide/mm/pagemap.rst). A page that only one process has mapped once, and
 * that is no file's, is no part of shared memory, nor the page of zeros. */
static const uint64_t PAGE_IS_OURS_ALONE = UINT64_C(1) << 56;
static const uint64_t PAGE_IS_FILES_OR_SHARED = UINT64_C(1) << 61;
static const uint64_t PAGE_IS_SWAPPED = UINT64_C(1) << 62;
static const uint64_t PAGE_IS_PRESENT = UINT64_C(1) << 63;

/* Refusals end: what libc maps by itself may be better than what was there. */
struct answer {
    struct range pages;
    enum reason reason;
    uint32_t refusals;
};

/* pagemap: written by start and stop; nobody else runs then. the others: by who has set is_busy. */
static struct {
    int pagemap;
    _Atomic uint64_t changes;
    atomic_bool is_busy;
    struct memory_kept_moment as_of; /* of all answers */
    struct answer answers[KEPT_MAX];
    uint32_t next; /* to be replaced */
} kept = {.pagemap = -1};

void memory_kept_start(void)
{
    kept.pagemap = base_descriptor_own(kernel_open("/proc/self/pagemap", O_RDONLY));
}

void memory_kept_stop(void)
{
    base_descriptor_close(kept.pagemap);
    kept.pagemap = -1;
    memset(kept.answers, 0, sizeof(kept.answers));
    atomic_store_explicit(&kept.is_busy, false, memory_order_relaxed); /* the parent of a fork may have been busy */
}

bool memory_kept_is_used(void)
{
    return kept.pagemap >= 0;
}

/* relaxed: who is to know of a change has been told by its caller, or made it. */
struct memory_kept_moment memory_kept_now(void)
{
    uint64_t changes = atomic_load_explicit(&kept.changes, memory_order_relaxed);
    struct object_counts objects = object_counts();
    return (struct memory_kept_moment){.changes = changes, .loads = objects.loads + objects.unloads};
}

void memory_kept_note_change(void)
{
    atomic_fetch_add_explicit(&kept.changes, 1, memory_order_relaxed);
}

static bool moments_are_same(struct memory_kept_moment a, struct memory_kept_moment b)
{
    return a.changes == b.changes && a.loads == b.loads;
}

static struct answer *answer_find(struct range pages)
{
    for (struct answer *answer = kept.answers; answer < kept.answers + KEPT_MAX; answer++)
        if (answer->pages.low == pages.low && answer->pages.high == pages.high)
            return answer;
    return NULL;
}

/* Nobody waits: who finds it busy does without. */
static bool kept_enter(void)
{
    return !atomic_exchange_explicit(&kept.is_busy, true, memory_order_acquire);
}

static void kept_leave(void)
{
    atomic_store_explicit(&kept.is_busy, false, memory_order_release);
}

void memory_kept_add(struct range pages, enum reason reason, struct memory_kept_moment moment)
{
    if (!kept_enter())
        return;
    if (!moments_are_same(kept.as_of, moment))
        memset(kept.answers, 0, sizeof(kept.answers));
    kept.as_of = moment;
    struct answer *answer = answer_find(pages);
    if (answer == NULL)
        answer = &kept.answers[kept.next++ % KEPT_MAX];
    *answer = (struct answer){.pages = pages, .reason = reason};
    kept_leave();
}

static bool answer_take(struct answer *answer, enum reason *reason)
{
    *reason = answer->reason;
    answer->refusals += answer->reason != REASON_NONE;
    return answer->refusals <= REFUSALS_MAX;
}

static bool is_kept(struct range pages, enum reason *reason)
{
    struct memory_kept_moment now = memory_kept_now();
    if (!kept_enter())
        return false;
    struct answer *answer = moments_are_same(kept.as_of, now) ? answer_find(pages) : NULL;
    bool is_known = answer != NULL && answer_take(answer, reason);
    kept_leave();
    return is_known;
}

/* Whatever the memory is; private to us, if it is to be held. */
static bool entries_fit(const uint64_t *entries, size_t count, enum reason reason)
{
    uint64_t all = UINT64_MAX;
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        all &= entries[i];
        any |= entries[i];
    }
    if (reason != REASON_NONE)
        return all & PAGE_IS_PRESENT;
    const uint64_t wanted = PAGE_IS_OURS_ALONE | PAGE_IS_PRESENT;
    return (all & wanted) == wanted && !(any & (PAGE_IS_FILES_OR_SHARED | PAGE_IS_SWAPPED));
}

/* 2 us for 1 MiB of small pages; all of them, since a part may have been replaced. */
static bool pages_fit(struct range pages, enum reason reason)
{
    uint64_t entries[ENTRIES_MAX];
    size_t first = pages.low / base_page_bytes();
    size_t end = pages.high / base_page_bytes();
    for (size_t count; first < end; first += count) {
        count = end - first < ENTRIES_MAX ? end - first : ENTRIES_MAX;
        ssize_t read_bytes = kernel_pread(kept.pagemap, entries, count * sizeof(*entries), first * sizeof(*entries));
        if (read_bytes != (ssize_t)(count * sizeof(*entries)) || !entries_fit(entries, count, reason))
            return false;
    }
    return true;
}

bool memory_kept_find(struct range pages, bool are_held, enum reason *reason)
{
    return memory_kept_is_used() && is_kept(pages, reason) && (are_held || pages_fit(pages, *reason));
}
