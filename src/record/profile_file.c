/* SPDX-License-Identifier: MIT */
#include "record/profile_file.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/hash.h"

_Static_assert(sizeof(struct profile_format_header) == 512, "the reader counts on this size");
_Static_assert(sizeof(struct profile_format_name) == PROFILE_BLOCK_BYTES, "one block");
_Static_assert(sizeof(struct profile_format_module) == PROFILE_BLOCK_BYTES, "one block");
_Static_assert(sizeof(struct profile_format_cell) == PROFILE_BLOCK_BYTES, "one block");
_Static_assert(sizeof(struct profile_format_events) == PROFILE_BLOCK_BYTES, "one block");
_Static_assert(sizeof(struct profile_format_site) == 3 * PROFILE_BLOCK_BYTES, "three blocks");
_Static_assert(sizeof(struct profile_format_event) * 2 == PROFILE_BLOCK_BYTES, "two events in a block");

/* Address space for all of it is taken at once. */
enum { LENGTH_MAX_BYTES = 32 << 20 };
enum { PROBES_MAX = 64, SITE_BLOCKS = sizeof(struct profile_format_site) / PROFILE_BLOCK_BYTES };

struct profile_file profile_file;

static void *block_at(uint32_t number)
{
    return (char *)profile_file.header + sizeof(struct profile_format_header) + (size_t)number * PROFILE_BLOCK_BYTES;
}

/* As many pieces as were refused once are refused from then on; fewer may still fit. */
static bool pieces_add(uint32_t count)
{
    char *end = (char *)profile_file.header + profile_file.length_bytes;
    if (count >= profile_file.refused_pieces)
        return false;
    if (pieces_map(&profile_file.pieces, end, count))
        return true;
    profile_file.refused_pieces = count;
    return false;
}

static bool file_grow(uint64_t wanted_bytes)
{
    uint64_t next_bytes = (wanted_bytes + PROFILE_PIECE_BYTES - 1) / PROFILE_PIECE_BYTES * PROFILE_PIECE_BYTES;
    if (wanted_bytes <= profile_file.length_bytes)
        return true;
    uint32_t count = (uint32_t)((next_bytes - profile_file.length_bytes) / PROFILE_PIECE_BYTES);
    if (next_bytes > LENGTH_MAX_BYTES || !pieces_add(count))
        return false;
    profile_file.length_bytes = next_bytes;
    return true;
}

/* Under `growth`. 0 when there is no more room. */
static uint32_t blocks_take(uint32_t count)
{
    uint32_t first = atomic_load_explicit(&profile_file.header->used_blocks, memory_order_relaxed);
    uint64_t end_bytes = sizeof(struct profile_format_header) + ((uint64_t)first + count) * PROFILE_BLOCK_BYTES;
    if (!profile_file.is_open || !file_grow(end_bytes))
        return 0;
    /* A reader of an aborted process finds blocks that were never filled blank. */
    atomic_store_explicit(&profile_file.header->used_blocks, first + count, memory_order_relaxed);
    return first;
}

static bool space_take(void)
{
    long space =
        syscall(SYS_mmap, NULL, LENGTH_MAX_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    profile_file.header = space == -1 ? NULL : (struct profile_format_header *)space;
    return profile_file.header != NULL;
}

/* With block 0, which is blank. */
static uint64_t blocks_end_bytes(uint32_t count)
{
    return sizeof(struct profile_format_header) + (1 + (uint64_t)count) * PROFILE_BLOCK_BYTES;
}

static uint32_t events_block_count(uint32_t capacity)
{
    return capacity == 0 ? 0 : 1 + (capacity + 1) / 2;
}

/* What is needed from the start. */
static uint32_t first_pieces(uint32_t event_capacity)
{
    uint64_t wanted_bytes = blocks_end_bytes(events_block_count(event_capacity));
    uint64_t length_bytes = wanted_bytes < LENGTH_MAX_BYTES ? wanted_bytes : LENGTH_MAX_BYTES;
    return (uint32_t)((length_bytes + PROFILE_PIECE_BYTES - 1) / PROFILE_PIECE_BYTES);
}

static bool file_map(const char *directory, const struct profile_file_identity *identity)
{
    if (!space_take())
        return false;
    uint32_t count = pieces_open(&profile_file.pieces, directory, identity->rank, profile_file.header,
                                 first_pieces(identity->event_capacity));
    profile_file.is_open = count != 0;
    profile_file.length_bytes = (uint64_t)count * PROFILE_PIECE_BYTES;
    profile_file.refused_pieces = UINT32_MAX;
    return profile_file.is_open;
}

static uint32_t core_count(void)
{
    cpu_set_t cores;
    return base_cores_allowed(&cores) ? (uint32_t)CPU_COUNT(&cores) : 0;
}

static void header_fill(const struct profile_file_identity *identity)
{
    struct profile_format_header *header = profile_file.header;
    memcpy(header->magic, PROFILE_MAGIC, sizeof header->magic);
    header->version = PROFILE_VERSION;
    header->header_bytes = sizeof *header;
    header->block_bytes = PROFILE_BLOCK_BYTES;
    header->rank = identity->rank;
    header->size = identity->size;
    header->pid = (uint32_t)getpid();
    header->core_count = core_count();
    header->online_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    header->matching = identity->matches_first ? PROFILE_MATCHES_FIRST : PROFILE_MATCHES_LATER;
    header->started_unix_ns = (uint64_t)base_clock_unix_ns();
    header->started_ns = (uint64_t)base_clock_now_ns();
    header->ended_ns = header->started_ns;
    header->used_blocks = 1;
    gethostname(header->host, sizeof header->host - 1);
    snprintf(header->mpi_library, sizeof header->mpi_library, "%s", identity->mpi_library);
    snprintf(header->abi, sizeof header->abi, "%s", identity->abi);
}

static void events_make(uint32_t capacity)
{
    uint32_t block_count = events_block_count(capacity);
    uint32_t number = capacity == 0 ? 0 : blocks_take(block_count);
    if (number == 0)
        return;
    profile_file.events = block_at(number);
    profile_file.events->kind = PROFILE_EVENTS;
    profile_file.events->block_count = block_count;
    profile_file.events->capacity = capacity;
}

static void file_close(void)
{
    if (profile_file.is_open)
        pieces_close(&profile_file.pieces);
    profile_file.is_open = false;
}

bool profile_file_open(const char *directory, const struct profile_file_identity *identity)
{
    if (!file_map(directory, identity)) {
        file_close();
        profile_file.header = NULL;
        return false;
    }
    profile_file.is_shared = identity->is_shared;
    header_fill(identity);
    events_make(identity->event_capacity);
    return true;
}

/* The mapping stays: a thread that does not know of the end yet may still add. */
void profile_file_close(enum profile_format_state state, int64_t ended_ns)
{
    if (!profile_file.is_open)
        return;
    base_lock_take(&profile_file.growth);
    atomic_store_explicit(&profile_file.header->ended_ns, (uint64_t)ended_ns, memory_order_relaxed);
    atomic_store_explicit(&profile_file.header->state, state, memory_order_relaxed);
    file_close();
    base_lock_release(&profile_file.growth);
}

void profile_file_forked_child(void)
{
    file_close();
}

static void *filled_block(uint32_t count, enum profile_format_kind kind)
{
    uint32_t number = blocks_take(count);
    uint32_t *block = number == 0 ? NULL : block_at(number);
    if (block != NULL)
        block[0] = kind;
    return block;
}

static void name_add(uint32_t function, const char *name)
{
    if (function >= PROFILE_FILE_NAMES || profile_file.is_named[function])
        return;
    struct profile_format_name *block = filled_block(1, PROFILE_NAME);
    if (block == NULL)
        return;
    profile_file.is_named[function] = true;
    block->function = function;
    snprintf(block->name, sizeof block->name, "%s", name);
}

static struct profile_format_site *site_make(uintptr_t address, uint32_t function, const char *name)
{
    name_add(function, name);
    struct profile_format_site *site = filled_block(SITE_BLOCKS, PROFILE_SITE);
    if (site == NULL)
        return NULL;
    site->function = function;
    site->address = address;
    atomic_store_explicit(&site->time.minimum, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&site->bytes.minimum, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&site->before.minimum, UINT64_MAX, memory_order_relaxed);
    return site;
}

/* Addresses have 47 or 48 bits, functions 10; never 0. */
static uint64_t site_key(uintptr_t address, uint32_t function)
{
    return ((uint64_t)address << 11) | ((uint64_t)function << 1) | 1;
}

static uint32_t site_slot(uint64_t key, uint32_t probe)
{
    return ((uint32_t)base_hash(key, PROFILE_FILE_SITE_BITS) + probe) % PROFILE_FILE_SITES;
}

/* The slot that has the key, or could have it; PROFILE_FILE_SITES when there is none. */
static uint32_t slot_find(uint64_t key)
{
    for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
        uint32_t slot = site_slot(key, probe);
        /* acquire: who sees the key sees the block. */
        uint64_t known = atomic_load_explicit(&profile_file.sites[slot].key, memory_order_acquire);
        if (known == key || known == 0)
            return slot;
    }
    return PROFILE_FILE_SITES;
}

static struct profile_format_site *slot_site(uint32_t slot)
{
    return block_at(atomic_load_explicit(&profile_file.sites[slot].block, memory_order_relaxed));
}

static struct profile_format_site *slot_fill(uint64_t key, uintptr_t address, uint32_t function, const char *name)
{
    uint32_t slot = slot_find(key);
    if (slot == PROFILE_FILE_SITES)
        return NULL;
    if (atomic_load_explicit(&profile_file.sites[slot].key, memory_order_relaxed) == key)
        return slot_site(slot);
    struct profile_format_site *site = site_make(address, function, name);
    if (site == NULL)
        return NULL;
    atomic_store_explicit(&profile_file.sites[slot].block, profile_file_site_number(site), memory_order_relaxed);
    atomic_store_explicit(&profile_file.sites[slot].key, key, memory_order_release);
    return site;
}

static struct profile_format_site *site_add(uintptr_t address, uint32_t function, const char *name)
{
    base_lock_take(&profile_file.growth);
    struct profile_format_site *site = slot_fill(site_key(address, function), address, function, name);
    base_lock_release(&profile_file.growth);
    if (site == NULL)
        atomic_fetch_add_explicit(&profile_file.header->lost_calls, 1, memory_order_relaxed);
    return site;
}

struct profile_format_site *profile_file_site_find(uintptr_t address, uint32_t function, const char *name)
{
    uint64_t key = site_key(address, function);
    uint32_t slot = slot_find(key);
    /* relaxed: slot_find() has loaded it with acquire, and a key never changes. */
    if (slot != PROFILE_FILE_SITES && atomic_load_explicit(&profile_file.sites[slot].key, memory_order_relaxed) == key)
        return slot_site(slot);
    return site_add(address, function, name);
}

uint32_t profile_file_site_number(const struct profile_format_site *site)
{
    return (uint32_t)(((const char *)site - (const char *)block_at(0)) / PROFILE_BLOCK_BYTES);
}

static struct profile_format_cell *cell_find(struct profile_format_site *site, enum profile_format_kind kind,
                                             int64_t key, uint32_t *count)
{
    *count = 0;
    /* acquire: a cell is filled before it is linked. */
    uint32_t number = atomic_load_explicit(&site->first_cell, memory_order_acquire);
    while (number != 0) {
        struct profile_format_cell *cell = block_at(number);
        bool is_kind = cell->kind == kind;
        if (is_kind && atomic_load_explicit(&cell->key, memory_order_relaxed) == key)
            return cell;
        *count += is_kind;
        number = atomic_load_explicit(&cell->next, memory_order_relaxed);
    }
    return NULL;
}

static struct profile_format_cell *cell_make(struct profile_format_site *site, enum profile_format_kind kind,
                                             int64_t key, uint32_t limit)
{
    uint32_t count;
    struct profile_format_cell *cell = cell_find(site, kind, key, &count);
    if (cell != NULL || count >= limit)
        return cell;
    uint32_t number = blocks_take(1);
    if (number == 0)
        return NULL;
    cell = block_at(number);
    atomic_store_explicit(&cell->key, key, memory_order_relaxed);
    atomic_store_explicit(&cell->minimum, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&cell->next, atomic_load_explicit(&site->first_cell, memory_order_relaxed),
                          memory_order_relaxed);
    cell->kind = kind;
    atomic_store_explicit(&site->first_cell, number, memory_order_release);
    return cell;
}

static struct profile_format_cell *cell_add(struct profile_format_site *site, enum profile_format_kind kind,
                                            int64_t key, uint32_t limit)
{
    base_lock_take(&profile_file.growth);
    struct profile_format_cell *cell = cell_make(site, kind, key, limit);
    base_lock_release(&profile_file.growth);
    return cell;
}

static bool kind_is_full(struct profile_format_site *site, enum profile_format_kind kind)
{
    return atomic_load_explicit(&site->full_kinds, memory_order_relaxed) & (1U << kind);
}

void profile_file_cell_add(struct profile_format_site *site, enum profile_format_kind kind, int64_t key, uint32_t limit,
                           uint64_t first, uint64_t second)
{
    uint32_t count;
    /* A site with a thousand peers must not search them all each time. */
    if (kind_is_full(site, kind))
        return;
    struct profile_format_cell *cell = cell_find(site, kind, key, &count);
    if (cell == NULL)
        cell = cell_add(site, kind, key, limit);
    if (cell == NULL) {
        atomic_fetch_or_explicit(&site->full_kinds, 1U << kind, memory_order_relaxed);
        return;
    }
    profile_file_add(&cell->count, 1);
    profile_file_add(&cell->first, first);
    profile_file_add(&cell->second, second);
    profile_file_lower(&cell->minimum, second);
}

void profile_file_module_add(const char *file_path, uintptr_t base, uintptr_t low, uintptr_t high)
{
    size_t path_length = strnlen(file_path, 4000);
    size_t module_bytes = offsetof(struct profile_format_module, path) + path_length;
    uint32_t block_count = (uint32_t)((module_bytes + PROFILE_BLOCK_BYTES - 1) / PROFILE_BLOCK_BYTES);
    base_lock_take(&profile_file.growth);
    struct profile_format_module *module = filled_block(block_count, PROFILE_MODULE);
    if (module != NULL) {
        module->block_count = block_count;
        module->base = base;
        module->low = low;
        module->high = high;
        module->path_length = (uint32_t)path_length;
        memcpy((char *)module + offsetof(struct profile_format_module, path), file_path, path_length);
    }
    base_lock_release(&profile_file.growth);
}

static struct profile_format_event *event_place(uint64_t number)
{
    struct profile_format_event *places = (struct profile_format_event *)(profile_file.events + 1);
    return &places[number % profile_file.events->capacity];
}

/* Returns how many events there are with it. relaxed: an event is read when the file is closed. */
static uint64_t event_put(const struct profile_format_event *event)
{
    uint64_t number = atomic_fetch_add_explicit(&profile_file.events->count, 1, memory_order_relaxed);
    *event_place(number) = *event;
    return number + 1;
}

void profile_file_event_add(const struct profile_format_event *event)
{
    if (profile_file.events != NULL)
        event_put(event);
}

/* Does the engine's last event end shortly before this one, with no event between them? */
static bool event_goes_on(const struct profile_format_event *last, const struct profile_format_event *event)
{
    enum { PAUSE_MAX_NS = 1000000 };
    uint64_t last_end_ns = last->start_ns + last->length_ns;
    return event->start_ns >= last_end_ns && event->start_ns - last_end_ns < PAUSE_MAX_NS;
}

void profile_file_event_add_engine(const struct profile_format_event *event)
{
    struct profile_format_events *events = profile_file.events;
    if (events == NULL)
        return;
    uint64_t end = atomic_load_explicit(&events->count, memory_order_relaxed);
    bool is_newest = end != 0 && end == events->engine_end;
    struct profile_format_event *last = is_newest ? event_place(end - 1) : NULL;
    if (last != NULL && event_goes_on(last, event))
        last->length_ns = event->start_ns + event->length_ns - last->start_ns;
    else
        events->engine_end = event_put(event);
}
