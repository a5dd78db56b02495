/* SPDX-License-Identifier: MIT */
/* The profile that a process keeps in mapped pieces of a file; layout: profile_format.h.
 * Any thread may add. Nothing here waits on the way of a call, but for the first
 * call of a site. */
#ifndef RECORD_PROFILE_FILE_H
#define RECORD_PROFILE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "record/pieces.h"
#include "record/profile_format.h"

/* What is known when the profile begins. */
struct profile_file_identity {
    int rank;
    int size;
    bool is_shared;     /* several threads may be in MPI at once */
    bool matches_first; /* receives would, without a profile */
    const char *abi;
    const char *mpi_library;
    uint32_t event_capacity; /* events of the timeline to keep; 0: none */
};

/* Begins a profile in the file of this host, or in one of its own where that is full. False when that cannot be done.
 */
bool profile_file_open(const char *directory, const struct profile_file_identity *identity);

/* The end: nothing is added afterwards. */
void profile_file_close(enum profile_format_state state, int64_t ended_ns);

/* In the child after fork: the file is the parent's. */
void profile_file_forked_child(void);

enum { PROFILE_FILE_NAMES = 1024, PROFILE_FILE_SITE_BITS = 13, PROFILE_FILE_SITES = 1 << PROFILE_FILE_SITE_BITS };

/* header: NULL before profile_file_open(). is_shared: several threads in MPI at once. Written by
 * profile_file_open().
 * The rest is for profile_file.c, written there and under `growth`. is_open: room can be made.
 * refused_pieces: so many were asked for and refused. sites: a site with key 0
 * is free; filled under `growth`, block first; read by all without it. */
extern struct profile_file {
    struct profile_format_header *header;
    bool is_shared;
    bool is_open;
    struct pieces pieces;
    struct base_lock growth;
    uint64_t length_bytes;
    uint32_t refused_pieces;
    struct profile_format_events *events;
    struct {
        _Atomic uint64_t key;
        _Atomic uint32_t block;
    } sites[PROFILE_FILE_SITES];
    bool is_named[PROFILE_FILE_NAMES];
} profile_file;

/* The site of a call. Made, with the function's name, when it is new; NULL when there
 * is no room, which is counted. */
struct profile_format_site *profile_file_site_find(uintptr_t address, uint32_t function, const char *name);

/* The number of its block. */
uint32_t profile_file_site_number(const struct profile_format_site *site);

/* Adds to the cell of this kind and key. Once there were more than `limit` keys of the
 * kind, nothing more is remembered of it. */
void profile_file_cell_add(struct profile_format_site *site, enum profile_format_kind kind, int64_t key, uint32_t limit,
                           uint64_t first, uint64_t second);

void profile_file_module_add(const char *path, uintptr_t base, uintptr_t low, uintptr_t high);

void profile_file_event_add(const struct profile_format_event *event);

/* The engine's thread: the same, but turns that follow each other with nothing between them become one event, since an
 * engine that polls would push all others out of the ring. */
void profile_file_event_add_engine(const struct profile_format_event *event);

/* relaxed, all of these: numbers for a report. */
static inline void profile_file_add(_Atomic uint64_t *number, uint64_t value)
{
    if (profile_file.is_shared) {
        atomic_fetch_add_explicit(number, value, memory_order_relaxed);
        return;
    }
    uint64_t before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + value, memory_order_relaxed);
}

static inline void profile_file_lower(_Atomic uint64_t *number, uint64_t value)
{
    uint64_t known = atomic_load_explicit(number, memory_order_relaxed);
    while (value < known &&
           !atomic_compare_exchange_weak_explicit(number, &known, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static inline void profile_file_raise(_Atomic uint64_t *number, uint64_t value)
{
    uint64_t known = atomic_load_explicit(number, memory_order_relaxed);
    while (value > known &&
           !atomic_compare_exchange_weak_explicit(number, &known, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* A minimum starts at UINT64_MAX (readers take it from samples of count 0 as 0). */
static inline void profile_file_moments_add(struct profile_format_moments *moments, uint64_t value)
{
    profile_file_add(&moments->count, 1);
    profile_file_add(&moments->total, value);
    profile_file_lower(&moments->minimum, value);
    profile_file_raise(&moments->maximum, value);
}

/* Binary digits: 0 for 0, 1 for 1, 2 for 2 and 3, ... */
static inline int64_t profile_file_bits(uint64_t value)
{
    return value == 0 ? 0 : 64 - __builtin_clzll(value);
}

#endif
