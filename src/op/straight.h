/* SPDX-License-Identifier: MIT */
/* What a small message of the program passes through, and no more: is its datatype among those of which a few messages
 * have gone by, and has it fewer elements than go straight to MPI? Then it is counted, and its entry jumps to MPI.
 *
 * What would forbid that is not asked by each message: whoever brings it about closes the table, and it is filled again
 * by messages that take the long way while nothing forbids it (straight_learn()). So a number of elements that is not 0
 * says that nothing is pending (busy.h), that the type is as it was (no type has been freed since), and, of nonblocking
 * messages, that they are only counted (untracked.h).
 *
 * Only the program's threads read and write here, and below MPI_THREAD_MULTIPLE one of them is in MPI at a time. At
 * that level the table stays closed. So nothing here is atomic; who ends the process beside a call of another thread
 * may write a record without that call. */
#ifndef OP_STRAIGHT_H
#define OP_STRAIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/untracked.h"

/* One line of the cache: all that a small message reads and writes of ours, but for the number of those under way.
 * pass_below, begin_below: of fewer elements a blocking message goes straight, or a nonblocking one; 0: none does.
 * calls, elements: of blocking messages that have gone straight and are not in the record yet. */
struct straight_type {
    _Alignas(64) uint64_t handle;
    uint64_t pass_below;
    uint64_t begin_below;
    uint64_t calls;
    uint64_t elements;
    uint64_t size_bytes;
};

enum { STRAIGHT_BITS = 4, STRAIGHT_TYPES = 1 << STRAIGHT_BITS };

/* busy_count: of busy.h. is_shared: several threads may be in MPI at once (MPI_THREAD_MULTIPLE), and ops may begin;
 * written once, before the first op. */
extern __attribute__((visibility("hidden"))) struct straight {
    struct straight_type types[STRAIGHT_TYPES];
    bool is_open;   /* some type may go straight */
    bool is_barred; /* none will */
    bool is_shared;
    _Atomic unsigned busy_count;
} straight;

/* As base_hash(), with what 32 bits have of a handle: one instruction less, and neighbours still lie apart. */
static inline struct straight_type *straight_type_of(uint64_t handle)
{
    enum { KEY_BITS = 32 };
    uint64_t index = (uint32_t)handle * UINT32_C(0x9E3779B1) >> (KEY_BITS - STRAIGHT_BITS);
    return straight.types + index;
}

/* May this blocking message go straight? A negative count is none of a small message. */
static inline bool straight_may_pass(int64_t count, uint64_t handle)
{
    const struct straight_type *type = straight_type_of(handle);
    return __builtin_expect(type->handle == handle, true) && __builtin_expect((uint64_t)count < type->pass_below, true);
}

/* One that may does: counts it for the record. */
static inline void straight_note_pass(int64_t count, uint64_t handle)
{
    struct straight_type *type = straight_type_of(handle);
    type->calls++;
    type->elements += (uint64_t)count;
}

static inline bool straight_passes(int64_t count, uint64_t handle)
{
    bool passes = straight_may_pass(count, handle);
    if (passes)
        straight_note_pass(count, handle);
    return passes;
}

/* May this nonblocking message? It counts as under way from now on. */
static inline bool straight_begins(int64_t count, uint64_t handle)
{
    const struct straight_type *type = straight_type_of(handle);
    if (__builtin_expect(type->handle != handle, false) ||
        __builtin_expect((uint64_t)count >= type->begin_below, false))
        return false;
    untracked_add_alone(1);
    return true;
}

/* A message of this type goes by while nothing is pending: the next ones may go straight. */
void straight_learn(uint64_t handle, uint64_t size_bytes);

/* None may, until more is learnt. By a thread of the program, inside MPI or about to be. */
void straight_close(void);

/* None ever may: MPI_THREAD_MULTIPLE. */
void straight_bar(void);

/* The record gets what has been counted. */
void straight_record(void);

#endif
