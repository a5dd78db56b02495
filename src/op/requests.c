/* SPDX-License-Identifier: MIT */
#include "op/requests.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/hash.h"
#include "engine/gate.h"
#include "engine/pending.h"
#include "op/assist.h"
#include "op/host.h"
#include "op/straight.h"

enum { BUCKET_BITS = 12, BUCKET_BITS_MAX = 20, PER_BUCKET_MAX = 4 };
enum { CHUNK_LENGTH = 16384, CHUNKS_MAX = 1024, REGIONS_MAX = 256, NOBODY = 0 };

/* Chains by index (0 ends a chain), so that an untouched table costs no memory. */
struct request {
    uint64_t key;
    struct range bytes;
    uint32_t next;
    bool is_send;       /* the next two: of such a one */
    bool may_outlast;   /* that may still be under way when the program has waited for it */
    bool may_hide_gaps; /* which may not use all of `bytes` */
    bool is_aside;
    uint8_t kinds;            /* a bit for each enum requests_kind that it is */
    uint8_t loss;             /* an enum requests_loss */
    uint64_t op_id;           /* that the persistent send was left to, when it was last waited for */
    struct policy_site *site; /* of a receive that learns what its wait takes */
    uint32_t situation;
    struct assist assist;
};

/* Read and written by the thread that is in MPI; under `lock` when several may be. The program's thread also comes here
 * when it has left the gate: inside it again, where the engine ends requests as well (is_engines, written inside it).
 * One is also read without either, relaxed. unknown_count: written by a thread inside MPI; who arms a hold on shared
 * pages does so while no other is.
 *
 * more_heads, more_bits: in place of first_heads, once there are so many. chunks: the first is first_chunk. All is zero
 * until then, so that nothing of it lies in the file and the dynamic linker writes none.
 * highest: of the entries ever used; 0 again once none is in use. lost_regions: those without an entry.
 * unasked, doublings: see requests_begin_small(); by threads inside MPI, relaxed: a message too many or too few. */
static struct {
    _Atomic uint32_t unasked;
    _Atomic uint32_t doublings;
    uint32_t *more_heads;
    int more_bits;
    struct gate_lock lock;
    bool is_engines;
    _Atomic uint32_t unknown_count;
    _Atomic uint8_t expected_kinds;
    uint32_t highest;
    uint32_t unused; /* chain of given-back entries */
    uint32_t region_count;
    uint32_t lost_regions;
    struct assist_waits waits; /* of receives */
    struct range regions[REGIONS_MAX];
    struct request *chunks[CHUNKS_MAX];
    struct request first_chunk[CHUNK_LENGTH];
    uint32_t first_heads[1 << BUCKET_BITS];
} requests;

/* The gate, where one thread at a time is in it: to settle a request may need it, and the engine comes here from
 * inside. */
static void requests_lock(void)
{
    if (untracked.is_shared)
        gate_lock_take(&requests.lock);
    else if (requests.is_engines)
        gate_enter();
}

static void requests_unlock(void)
{
    if (untracked.is_shared)
        gate_lock_release(&requests.lock);
    else if (requests.is_engines)
        gate_leave();
}

void requests_expect_engine(void)
{
    if (!untracked.is_shared)
        requests.is_engines = true;
}

void requests_share(bool is_shared)
{
    untracked.is_shared = is_shared;
}

static uint32_t requests_count(void)
{
    return atomic_load_explicit(&untracked.tracked_count, memory_order_relaxed);
}

/* Under the lock: a plain addition does. */
static void requests_count_set(uint32_t count)
{
    atomic_store_explicit(&untracked.tracked_count, count, memory_order_relaxed);
}

static struct request *request_at(uint32_t index)
{
    return &requests.chunks[index / CHUNK_LENGTH][index % CHUNK_LENGTH];
}

static uint32_t *request_heads(void)
{
    return requests.more_heads != NULL ? requests.more_heads : requests.first_heads;
}

static uint32_t *request_bucket(uint64_t key)
{
    return &request_heads()[base_hash(key, BUCKET_BITS + requests.more_bits)];
}

static void buckets_move(const uint32_t *heads, int bits)
{
    for (uint32_t i = 0; i < UINT32_C(1) << bits; i++) {
        for (uint32_t index = heads[i], next; index != NOBODY; index = next) {
            uint32_t *head = request_bucket(request_at(index)->key);
            next = request_at(index)->next;
            request_at(index)->next = *head;
            *head = index;
        }
    }
}

/* Long chains, once so many requests are under way; never back. Without memory they stay long. */
static void buckets_grow(void)
{
    enum { MORE_BITS = 4 };
    uint32_t *before = request_heads();
    int bits = BUCKET_BITS + requests.more_bits;
    if (requests_count() < (uint32_t)PER_BUCKET_MAX << bits || bits >= BUCKET_BITS_MAX)
        return;
    uint32_t *heads = host.memory_take(sizeof *heads << (bits + MORE_BITS));
    if (heads == NULL)
        return;
    requests.more_heads = heads;
    requests.more_bits += MORE_BITS;
    buckets_move(before, bits);
    if (before != requests.first_heads)
        host.memory_give_back(before, sizeof *before << bits);
}

/* Is there memory for the entry that would be the next? */
static bool chunk_has(uint32_t index)
{
    uint32_t number = index / CHUNK_LENGTH;
    if (number < CHUNKS_MAX && requests.chunks[number] == NULL)
        requests.chunks[number] =
            number == 0 ? requests.first_chunk : host.memory_take(sizeof(struct request) * CHUNK_LENGTH);
    return number < CHUNKS_MAX && requests.chunks[number] != NULL;
}

static uint32_t request_entry_take(void)
{
    uint32_t index = requests.unused;
    if (index != NOBODY) {
        requests.unused = request_at(index)->next;
        return index;
    }
    return chunk_has(requests.highest + 1) ? ++requests.highest : NOBODY;
}

/* One for which there is no memory is counted until it ends, as a small message is. */
static void request_insert(uint64_t key, struct range bytes)
{
    uint32_t index = request_entry_take();
    if (index == NOBODY) {
        untracked_add(1);
        return;
    }
    buckets_grow();
    uint32_t *head = request_bucket(key);
    *request_at(index) = (struct request){.key = key, .bytes = bytes, .next = *head};
    *head = index;
    requests_count_set(requests_count() + 1);
}

/* Have so many begun since somebody asked that nobody will? A message that is tracked has a price: a program that has
 * sent large messages, and goes on with small ones, would pay it to its end (8 bytes over shared memory: 0.25 us, more
 * than MPI takes). But counted messages that are under way when somebody asks prevent a hold. So each time that they
 * do, twice as many must begin unasked before they are counted again. */
static bool requests_are_unasked(void)
{
    enum { UNASKED_LEAST = 64 };
    uint32_t unasked = atomic_load_explicit(&requests.unasked, memory_order_relaxed) + 1;
    atomic_store_explicit(&requests.unasked, unasked, memory_order_relaxed);
    return unasked >> atomic_load_explicit(&requests.doublings, memory_order_relaxed) >= UNASKED_LEAST;
}

/* came_in_the_way: those that were counted until now did. */
static void requests_note_asked(bool came_in_the_way)
{
    enum { DOUBLINGS_MAX = 20 };
    uint32_t doublings = atomic_load_explicit(&requests.doublings, memory_order_relaxed);
    atomic_store_explicit(&requests.unasked, 0, memory_order_relaxed);
    if (came_in_the_way && doublings < DOUBLINGS_MAX)
        atomic_store_explicit(&requests.doublings, doublings + 1, memory_order_relaxed);
}

bool requests_begin_small(void)
{
    if (untracked_is_over() && requests_are_unasked()) {
        untracked_count_again();
        straight_close(); /* what it has learnt is that none goes straight */
    }
    return untracked_begin();
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
        requests.lost_regions++;
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
    if (requests.lost_regions != 0)
        requests.lost_regions--;
}

void requests_untrack_region(uintptr_t low)
{
    requests_lock();
    region_remove(low);
    requests_unlock();
}

void requests_track_unknown(void)
{
    atomic_fetch_add_explicit(&requests.unknown_count, 1, memory_order_relaxed);
}

void requests_untrack_unknown(void)
{
    atomic_fetch_sub_explicit(&requests.unknown_count, 1, memory_order_relaxed);
}

bool requests_are_unknown(void)
{
    return atomic_load_explicit(&requests.unknown_count, memory_order_relaxed) != 0;
}

static void request_settle(struct request *request)
{
    if (request->site != NULL)
        assist_learn_wait(&requests.waits, &request->assist, request->site, request->situation);
    request->site = NULL;
    if (request->assist.is_observed)
        assist_end(&request->assist);
}

static struct request *request_of(uint64_t key)
{
    uint32_t index = *request_bucket(key);
    while (index != NOBODY && request_at(index)->key != key)
        index = request_at(index)->next;
    return index == NOBODY ? NULL : request_at(index);
}

/* All zero where there is none. */
static struct request request_read(uint64_t key)
{
    requests_lock();
    const struct request *request = request_of(key);
    struct request copy = request != NULL ? *request : (struct request){0};
    requests_unlock();
    return copy;
}

/* To be written until requests_unlock(). Where there is none, the entry that is nobody's, which nobody reads. */
static struct request *request_edit(uint64_t key)
{
    requests_lock();
    struct request *request = request_of(key);
    return request != NULL ? request : &requests.first_chunk[NOBODY];
}

struct range requests_range(uint64_t key)
{
    return request_read(key).bytes;
}

static uint8_t kind_bit(enum requests_kind kind)
{
    return (uint8_t)(1U << kind);
}

bool requests_may_be(enum requests_kind kind)
{
    return (atomic_load_explicit(&requests.expected_kinds, memory_order_relaxed) & kind_bit(kind)) != 0;
}

/* Bits come, and none goes: a locked instruction is needed once for each. */
void requests_expect(enum requests_kind kind)
{
    if (!requests_may_be(kind))
        atomic_fetch_or_explicit(&requests.expected_kinds, kind_bit(kind), memory_order_relaxed); /* see the header */
}

void requests_note_kind(uint64_t key, enum requests_kind kind)
{
    requests_expect(kind);
    request_edit(key)->kinds |= kind_bit(kind);
    requests_unlock();
}

bool requests_is(uint64_t key, enum requests_kind kind)
{
    return (request_read(key).kinds & kind_bit(kind)) != 0;
}

void requests_note_lost(uint64_t key, bool has_status)
{
    request_edit(key)->loss = has_status ? REQUESTS_LOSS_STATUS : REQUESTS_LOSS_TURN;
    requests_unlock();
}

enum requests_loss requests_loss(uint64_t key)
{
    return (enum requests_loss)request_read(key).loss;
}

void requests_note_send(uint64_t key, struct requests_send send)
{
    struct request *request = request_edit(key);
    request->is_send = true;
    request->may_outlast = send.may_outlast;
    request->may_hide_gaps = send.may_hide_gaps;
    request->kinds |= send.is_persistent ? kind_bit(REQUESTS_PERSISTENT) : 0;
    requests_unlock();
}

void requests_forget_send(uint64_t key)
{
    request_edit(key)->may_outlast = false;
    requests_unlock();
}

void requests_leave_to(uint64_t key, uint64_t op_id)
{
    request_edit(key)->op_id = op_id;
    requests_unlock();
}

uint64_t requests_left_to(uint64_t key)
{
    return request_read(key).op_id;
}

void requests_note_receive(uint64_t key, struct policy_site *site, uint32_t situation)
{
    requests_lock();
    struct request *request = request_of(key);
    if (request != NULL && request->site == NULL) {
        request->site = site;
        request->situation = situation;
        requests.waits.count++;
    }
    requests_unlock();
}

void requests_set_aside(uint64_t key, bool is_aside)
{
    request_edit(key)->is_aside = is_aside;
    requests_unlock();
}

bool requests_find_any_send(uint64_t key, struct requests_send *send)
{
    struct request request = request_read(key);
    *send = (struct requests_send){request.bytes, request.may_outlast, request.may_hide_gaps,
                                   (request.kinds & kind_bit(REQUESTS_PERSISTENT)) != 0};
    return request.is_send;
}

bool requests_find_send(uint64_t key, struct requests_send *send)
{
    return requests_find_any_send(key, send) && send->may_outlast;
}

static uint64_t request_size(const struct request *request)
{
    return request->bytes.high - request->bytes.low;
}

void requests_assist(uint64_t key, uint64_t bytes, const void *return_address)
{
    requests_lock();
    struct request *request = request_of(key);
    if (request != NULL && !request->assist.is_observed)
        assist_begin(&request->assist, bytes != 0 ? bytes : request_size(request), request->bytes.low, return_address);
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

void requests_end_assists(void)
{
    if (untracked.is_shared || gate_is_inside() || !engine_pending_assists())
        return;
    requests_lock();
    for (uint32_t index = 1; requests_count() != 0 && index <= requests.highest; index++) {
        if (request_at(index)->assist.is_active)
            assist_end(&request_at(index)->assist);
    }
    requests_unlock();
}

/* Under MPI_THREAD_MULTIPLE another thread may have begun a request with this handle after MPI gave it back and before
 * its first owner came here: the oldest is over. Of many with one handle all are over (requests.h): any will do. */
static uint32_t *request_link_oldest(uint64_t key)
{
    enum { LOOKS_MAX = 8 };
    uint32_t *found = NULL;
    int looks = 0;
    for (uint32_t *link = request_bucket(key); *link != NOBODY && looks < LOOKS_MAX; link = &request_at(*link)->next) {
        if (request_at(*link)->key != key)
            continue;
        found = link;
        looks++;
    }
    return found;
}

static void request_give_back(uint32_t index)
{
    *request_at(index) = (struct request){.next = requests.unused};
    requests.unused = index;
    requests_count_set(requests_count() - 1);
    if (requests_count() != 0)
        return;
    /* What many requests needed is looked through no longer (request_find). */
    requests.highest = 0;
    requests.unused = NOBODY;
}

/* One that is not here was only counted. */
static void request_remove(uint64_t key)
{
    uint32_t *link = request_link_oldest(key);
    if (link == NULL) {
        untracked_add(-1);
        return;
    }
    uint32_t index = *link;
    *link = request_at(index)->next;
    request_settle(request_at(index));
    request_give_back(index);
}

void requests_untrack(uint64_t key)
{
    requests_lock();
    request_remove(key);
    requests_unlock();
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
    if (requests.lost_regions != 0)
        return true;
    for (uint32_t i = 0; i < requests.region_count; i++) {
        if (base_ranges_overlap(requests.regions[i], bytes))
            return true;
    }
    /* An unused entry has an empty range, which overlaps nothing. */
    for (uint32_t index = 1; requests_count() != 0 && index <= requests.highest; index++) {
        const struct request *request = request_at(index);
        if (base_ranges_overlap(request->bytes, bytes) && !request->is_aside)
            return true;
    }
    return false;
}

bool requests_touch(struct range bytes)
{
    straight_close(); /* where small messages have only been counted */
    bool were_counted = !untracked_is_over();
    bool are_counted = untracked_end_all();
    requests_note_asked(were_counted && are_counted);
    if (are_counted || requests_are_unknown())
        return true;
    requests_lock();
    bool is_touched = request_find(bytes);
    requests_unlock();
    return is_touched;
}
