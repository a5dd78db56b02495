/* SPDX-License-Identifier: MIT */
#include "intercept/requests.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/lock.h"
#include "intercept/assist.h"
#include "intercept/untracked.h"

/* Beyond REQUESTS_MAX at once, nothing more is known and no page is shared. */
enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };
enum { REQUESTS_MAX = 16384, REGIONS_MAX = 256, NOBODY = 0 };

/* Chains by index (0 ends a chain), so that an untouched table costs no memory. */
struct request {
    uint64_t key;
    struct range bytes;
    uint32_t next;
    struct assist assist;
};

/* Read and written by the thread that is in MPI; under `lock` when several may be. Two
 * are also read without it, relaxed. is_unknown: set for good, by a thread inside MPI;
 * who arms a hold on shared pages does so while no other is. count: a thread that ends a request has
 * begun it, or has it from who did, and so sees it counted. is_shared: once, at start. */
static struct {
    struct base_lock lock;
    bool is_shared;
    _Atomic bool is_unknown;
    _Atomic uint32_t count;
    uint32_t highest;
    uint32_t unused; /* chain of given-back entries */
    uint32_t region_count;
    struct range regions[REGIONS_MAX];
    uint32_t heads[BUCKETS];
    struct request entries[REQUESTS_MAX + 1];
} requests;

static void requests_lock(void)
{
    if (requests.is_shared)
        base_lock_take(&requests.lock);
}

static void requests_unlock(void)
{
    if (requests.is_shared)
        base_lock_release(&requests.lock);
}

struct untracked untracked;

void requests_share(bool is_shared)
{
    requests.is_shared = is_shared;
    untracked.is_shared = is_shared;
}

static uint32_t requests_count(void)
{
    return atomic_load_explicit(&requests.count, memory_order_relaxed);
}

/* Under the lock: a plain addition does. */
static void requests_count_set(uint32_t count)
{
    atomic_store_explicit(&requests.count, count, memory_order_relaxed);
}

static uint32_t *request_bucket(uint64_t key)
{
    return &requests.heads[base_hash(key, BUCKET_BITS)];
}

static uint32_t request_entry_take(void)
{
    uint32_t index = requests.unused;
    if (index != NOBODY) {
        requests.unused = requests.entries[index].next;
        return index;
    }
    return requests.highest < REQUESTS_MAX ? ++requests.highest : NOBODY;
}

static void request_insert(uint64_t key, struct range bytes)
{
    uint32_t *head = request_bucket(key);
    uint32_t index = request_entry_take();
    if (index == NOBODY) {
        requests_track_unknown();
        return;
    }
    requests.entries[index] = (struct request){.key = key, .bytes = bytes, .next = *head};
    *head = index;
    requests_count_set(requests_count() + 1);
}

void requests_track(uint64_t key, struct range bytes)
{
    requests_lock();
    request_insert(key, bytes);
    requests_unlock();
}

void requests_track_region(struct range bytes)
{
    requests_lock();
    if (requests.region_count == REGIONS_MAX)
        requests_track_unknown();
    else
        requests.regions[requests.region_count++] = bytes;
    requests_unlock();
}

static void region_remove(uintptr_t low)
{
    for (uint32_t i = 0; i < requests.region_count; i++) {
        if (requests.regions[i].low == low) {
            requests.regions[i] = requests.regions[--requests.region_count];
            return;
        }
    }
}

void requests_untrack_region(uintptr_t low)
{
    requests_lock();
    region_remove(low);
    requests_unlock();
}

void requests_track_unknown(void)
{
    atomic_store_explicit(&requests.is_unknown, true, memory_order_relaxed);
}

bool requests_are_unknown(void)
{
    return atomic_load_explicit(&requests.is_unknown, memory_order_relaxed);
}

static void request_settle(struct request *request)
{
    if (request->assist.is_active)
        assist_end(&request->assist);
}

static struct request *request_of(uint64_t key)
{
    uint32_t index = *request_bucket(key);
    while (index != NOBODY && requests.entries[index].key != key)
        index = requests.entries[index].next;
    return index == NOBODY ? NULL : &requests.entries[index];
}

struct range requests_range(uint64_t key)
{
    requests_lock();
    const struct request *request = request_of(key);
    struct range bytes = request != NULL ? request->bytes : (struct range){0, 0};
    requests_unlock();
    return bytes;
}

static uint64_t request_size(const struct request *request)
{
    return request->bytes.high - request->bytes.low;
}

void requests_assist(uint64_t key, uint64_t bytes, const void *return_address)
{
    requests_lock();
    struct request *request = request_of(key);
    if (request != NULL && !request->assist.is_active)
        assist_begin(&request->assist, bytes != 0 ? bytes : request_size(request), return_address);
    requests_unlock();
}

void requests_settle(uint64_t key)
{
    requests_lock();
    struct request *request = request_of(key);
    if (request != NULL)
        request_settle(request);
    requests_unlock();
}

/* One that is not here was only counted. */
static void request_remove(uint64_t key)
{
    for (uint32_t *link = request_bucket(key); *link != NOBODY; link = &requests.entries[*link].next) {
        uint32_t index = *link;
        if (requests.entries[index].key != key)
            continue;
        *link = requests.entries[index].next;
        request_settle(&requests.entries[index]);
        requests.entries[index] = (struct request){.next = requests.unused};
        requests.unused = index;
        requests_count_set(requests_count() - 1);
        return;
    }
    untracked_add(-1);
}

void requests_untrack(uint64_t key)
{
    requests_lock();
    request_remove(key);
    requests_unlock();
}

bool requests_are_tracked(void)
{
    return requests_count() != 0;
}

bool requests_know(uint64_t key)
{
    if (!requests_are_tracked())
        return false;
    requests_lock();
    bool is_known = request_of(key) != NULL;
    requests_unlock();
    return is_known;
}

static bool request_find(struct range bytes)
{
    for (uint32_t i = 0; i < requests.region_count; i++) {
        if (base_ranges_overlap(requests.regions[i], bytes))
            return true;
    }
    /* An unused entry has an empty range, which overlaps nothing. */
    for (uint32_t index = 1; requests_count() != 0 && index <= requests.highest; index++) {
        if (base_ranges_overlap(requests.entries[index].bytes, bytes))
            return true;
    }
    return false;
}

bool requests_touch(struct range bytes)
{
    if (untracked_end_all() || requests_are_unknown())
        return true;
    requests_lock();
    bool is_touched = request_find(bytes);
    requests_unlock();
    return is_touched;
}
