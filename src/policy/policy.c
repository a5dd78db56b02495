/* SPDX-License-Identifier: MIT */
#include "policy/policy.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/hash.h"

/* A sample is bad when it brought less than twice its cost: what the clock does
 * not show (a fault, two thread switches, colder caches) costs about as much again.
 * BAD_SAMPLES in a row start a pause; each pause without a good sample in between
 * is twice as long, so that a hopeless site is sampled once in PAUSE_LONGEST calls. */
enum { SITE_BITS = 11, SITES = 1 << SITE_BITS };
enum { BAD_SAMPLES = 3, PAUSE_FIRST = 32, PAUSE_LONGEST = 8192, PROBES = 16, GAIN_FACTOR = 2 };
/* Below COPY_TOUCHED_LEAST_NS all is copied as fast as pages are moved to and fro. */
enum { SENDS_IN_A_ROW = 64, COPY_TOUCHED_LEAST_NS = 50000 };
/* So often all is copied at once, where copies on touch did not help: they cost a wait to try. */
enum { ROWS_WITHOUT_TOUCHED = 16 };

/* key: 0 free, claimed once by CAS. The rest: hints, relaxed, by any thread. */
struct policy_site {
    _Atomic uintptr_t key;
    _Atomic uint32_t bad_samples;
    _Atomic uint32_t pause;      /* length of the last pause, calls */
    _Atomic uint32_t pause_left; /* calls still to pass */
    _Atomic uint32_t way;        /* enum policy_send, of the next sends */
    _Atomic uint32_t sends_left; /* sends still to go that way */
    _Atomic uint32_t untouched;  /* rows of sends still without POLICY_COPY_TOUCHED */
};

static struct policy_site sites[SITES];
/* Both written once, at start. */
static bool policy_learns = true;
static enum option_send_buffers policy_send_buffers = OPTION_SEND_BUFFERS_AUTO;

void policy_configure(bool learns, enum option_send_buffers send_buffers)
{
    policy_learns = learns;
    policy_send_buffers = send_buffers;
}

static bool site_is_or_becomes(struct policy_site *site, uintptr_t key)
{
    uintptr_t known = atomic_load_explicit(&site->key, memory_order_relaxed);
    if (known == 0)
        /* After a lost race `known` holds the winner's key. */
        atomic_compare_exchange_strong_explicit(&site->key, &known, key, memory_order_relaxed, memory_order_relaxed);
    return known == 0 || known == key;
}

/* 0 to 22: sizes that are told apart differ by a factor of 8. */
static uintptr_t size_class(uint64_t bytes)
{
    enum { BITS_OF_ALL = 64, BITS_PER_CLASS = 3 };
    return bytes == 0 ? 0 : (uintptr_t)(BITS_OF_ALL - __builtin_clzll(bytes) + BITS_PER_CLASS - 1) / BITS_PER_CLASS;
}

struct policy_site *policy_site_find(const void *return_address, enum policy_direction direction, uint64_t bytes)
{
    /* Code lies below 2^56 on both processors. */
    uintptr_t key = ((uintptr_t)return_address << 2) | (uintptr_t)direction | (size_class(bytes) << 58);
    uint32_t start = (uint32_t)base_hash(key, SITE_BITS);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct policy_site *site = &sites[(start + i) % SITES];
        if (site_is_or_becomes(site, key))
            return site;
    }
    return NULL;
}

bool policy_site_allows(struct policy_site *site)
{
    if (!policy_learns || site == NULL)
        return true;
    uint32_t left = atomic_load_explicit(&site->pause_left, memory_order_relaxed);
    if (left == 0)
        return true;
    atomic_store_explicit(&site->pause_left, left - 1, memory_order_relaxed);
    return false;
}

static void site_pause(struct policy_site *site)
{
    uint32_t last = atomic_load_explicit(&site->pause, memory_order_relaxed);
    uint32_t next = last == 0 ? PAUSE_FIRST : last * 2;
    if (next > PAUSE_LONGEST)
        next = PAUSE_LONGEST;
    atomic_store_explicit(&site->pause, next, memory_order_relaxed);
    atomic_store_explicit(&site->pause_left, next, memory_order_relaxed);
    /* After a pause one bad sample is enough to start the next. */
    atomic_store_explicit(&site->bad_samples, BAD_SAMPLES - 1, memory_order_relaxed);
}

void policy_site_learn_wait(struct policy_site *site, enum policy_send way, int64_t waited_ns, int64_t copy_ns)
{
    if (site == NULL || waited_ns <= GAIN_FACTOR * copy_ns)
        return;
    uint32_t untouched = atomic_load_explicit(&site->untouched, memory_order_relaxed);
    bool is_tried = way == POLICY_HOLD && copy_ns >= COPY_TOUCHED_LEAST_NS && untouched == 0;
    if (way == POLICY_COPY_TOUCHED)
        atomic_store_explicit(&site->untouched, ROWS_WITHOUT_TOUCHED, memory_order_relaxed);
    else if (untouched != 0)
        atomic_store_explicit(&site->untouched, untouched - 1, memory_order_relaxed);
    atomic_store_explicit(&site->way, is_tried ? POLICY_COPY_TOUCHED : POLICY_COPY, memory_order_relaxed);
    atomic_store_explicit(&site->sends_left, SENDS_IN_A_ROW, memory_order_relaxed);
}

static enum policy_send site_send_learnt(struct policy_site *site)
{
    uint32_t left = site == NULL ? 0 : atomic_load_explicit(&site->sends_left, memory_order_relaxed);
    if (!policy_learns || left == 0)
        return POLICY_HOLD;
    atomic_store_explicit(&site->sends_left, left - 1, memory_order_relaxed);
    return (enum policy_send)atomic_load_explicit(&site->way, memory_order_relaxed);
}

enum policy_send policy_site_send(struct policy_site *site)
{
    switch (policy_send_buffers) {
    case OPTION_SEND_BUFFERS_HOLD:
        return POLICY_HOLD;
    case OPTION_SEND_BUFFERS_COPY_TOUCHED:
        return POLICY_COPY_TOUCHED;
    case OPTION_SEND_BUFFERS_COPY:
        return POLICY_COPY;
    default:
        return site_send_learnt(site);
    }
}

void policy_site_learn(struct policy_site *site, int64_t overlapped_ns, int64_t cost_ns)
{
    if (site == NULL)
        return;
    if (overlapped_ns >= GAIN_FACTOR * cost_ns) {
        atomic_store_explicit(&site->bad_samples, 0, memory_order_relaxed);
        atomic_store_explicit(&site->pause, 0, memory_order_relaxed);
        return;
    }
    uint32_t bad = atomic_load_explicit(&site->bad_samples, memory_order_relaxed) + 1;
    atomic_store_explicit(&site->bad_samples, bad, memory_order_relaxed);
    if (bad >= BAD_SAMPLES)
        site_pause(site);
}
