/* SPDX-License-Identifier: MIT */
/* When the program's requests began, for the calls that end them. */
#include <stddef.h>

#include "base/hash.h"
#include "profile/profile.h"

/* Open addressing by handle. A library may give the same handle to several requests (MPICH:
 * sends that were over at once): each has an entry, and any of them ends. Whoever swaps the
 * key (0 for a new request, its handle for a known one) for TAKEN owns the entry until it
 * stores the next key, so no thread ever waits here. No handle has the value TAKEN. */
enum { REQUEST_BITS = 14, REQUEST_SLOTS = 1 << REQUEST_BITS, REQUEST_PROBES = 32 };
enum { FREE = 0, TAKEN = 1 };

enum request_state { REQUEST_INACTIVE, REQUEST_ACTIVE };

struct request_entry {
    _Atomic uint64_t key;
    bool is_persistent;
    enum request_state state;
    uint64_t bytes;
    int64_t started_ns;
    int64_t inside_ns;
    const struct profile_thread *thread;
};

/* active_count: requests of the program under way. Any thread; relaxed: a number for a report. */
static struct {
    _Atomic int64_t active_count;
    struct request_entry entries[REQUEST_SLOTS];
} requests;

int64_t profile_requests_active(void)
{
    return atomic_load_explicit(&requests.active_count, memory_order_relaxed);
}

static struct request_entry *request_place(uint64_t key, uint32_t probe)
{
    return &requests.entries[(base_hash(key, REQUEST_BITS) + probe) % REQUEST_SLOTS];
}

static bool request_take(struct request_entry *entry, uint64_t key)
{
    if (atomic_load_explicit(&entry->key, memory_order_relaxed) != key)
        return false;
    /* acquire: pairs with request_put(), so that the entry is seen as its last owner left it. */
    return atomic_compare_exchange_strong_explicit(&entry->key, &key, TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Its owner gives it away: to who asks for this key. */
static void request_put(struct request_entry *entry, uint64_t key)
{
    atomic_store_explicit(&entry->key, key, memory_order_release); /* pairs with request_take() */
}

/* Takes an entry whose key is `wanted` from where the handle's lie. */
static struct request_entry *request_find(uint64_t key, uint64_t wanted)
{
    for (uint32_t probe = 0; key != 0 && probe < REQUEST_PROBES; probe++) {
        struct request_entry *entry = request_place(key, probe);
        if (request_take(entry, wanted))
            return entry;
    }
    return NULL;
}

static struct request_entry *request_make(uint64_t key, uint64_t bytes, bool is_persistent)
{
    struct request_entry *entry = request_find(key, FREE);
    if (entry == NULL) {
        atomic_fetch_add_explicit(&profile_file.header->lost_requests, key != 0, memory_order_relaxed);
        return NULL;
    }
    entry->is_persistent = is_persistent;
    entry->state = REQUEST_INACTIVE;
    entry->bytes = bytes;
    return entry;
}

static void request_activate(struct request_entry *entry)
{
    entry->state = REQUEST_ACTIVE;
    entry->started_ns = profile_thread.returned_ns;
    entry->inside_ns = profile_thread.inside_ns;
    entry->thread = &profile_thread;
    atomic_fetch_add_explicit(&requests.active_count, 1, memory_order_relaxed);
}

static void request_deactivate(struct request_entry *entry)
{
    if (entry->state == REQUEST_ACTIVE)
        atomic_fetch_sub_explicit(&requests.active_count, 1, memory_order_relaxed);
    entry->state = REQUEST_INACTIVE;
}

void profile_request_start(uint64_t key, uint64_t bytes)
{
    struct request_entry *entry = request_make(key, bytes, false);
    if (entry == NULL)
        return;
    request_activate(entry);
    request_put(entry, key);
}

void profile_request_make(uint64_t key, uint64_t bytes)
{
    struct request_entry *entry = request_make(key, bytes, true);
    if (entry != NULL)
        request_put(entry, key);
}

uint64_t profile_request_restart(uint64_t key)
{
    struct request_entry *entry = request_find(key, key);
    if (entry == NULL)
        return 0;
    request_activate(entry);
    uint64_t bytes = entry->bytes;
    request_put(entry, key);
    return bytes;
}

static void completion_add(struct profile_completion *completion, const struct request_entry *entry)
{
    completion->count++;
    completion->bytes += entry->bytes;
    if (completion->started_ns != 0 && completion->started_ns <= entry->started_ns)
        return;
    completion->started_ns = entry->started_ns;
    completion->inside_at_start_ns = entry->inside_ns;
    completion->thread = entry->thread;
}

void profile_request_end(uint64_t key, struct profile_completion *completion)
{
    struct request_entry *entry = request_find(key, key);
    if (entry == NULL)
        return;
    if (entry->state == REQUEST_ACTIVE)
        completion_add(completion, entry);
    request_deactivate(entry);
    request_put(entry, entry->is_persistent ? key : FREE);
}

void profile_request_forget(uint64_t key)
{
    struct request_entry *entry = request_find(key, key);
    if (entry == NULL)
        return;
    request_deactivate(entry);
    request_put(entry, FREE);
}
