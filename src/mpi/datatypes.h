/* SPDX-License-Identifier: MIT */
/* Where the bytes of (buffer, count, datatype) lie. */
#ifndef MPI_DATATYPES_H
#define MPI_DATATYPES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/hash.h"
#include "base/range.h"
#include "op/thread.h"

/* Whose are the bytes between those of an element? Asked for large messages only. */
enum datatype_gaps { DATATYPE_GAPS_UNASKED, DATATYPE_GAPS_OWN, DATATYPE_GAPS_FOREIGN };

/* From a small cache of the calling thread; asks MPI on a miss (inside the gate
 * when anything is pending). Valid until the thread's next call. */
const struct type_layout *datatype_layout(MPI_Datatype datatype);

/* A small message of the program's of this type goes the long way: where that was not needed, the next small ones go
 * straight to MPI (op/straight.h). */
void datatype_learn_small(const struct type_layout *layout);

/* Do the elements of a buffer of this type, gaps included, lie in one array of the
 * program's? True when the type is built like an array (vector, subarray, indexed)
 * or is smaller than a page (a C struct). A type made of byte displacements may
 * span separate blocks, with MPI's own memory between them. */
bool datatype_gaps_are_own(MPI_Datatype datatype);

/* generation: raised by datatype_forget(). */
extern __attribute__((visibility("hidden"))) struct datatypes {
    _Atomic uint32_t generation;
} datatypes;

static inline struct type_layout *datatype_entry(MPI_Datatype datatype)
{
    return &op_thread.types[base_hash((uint64_t)(uintptr_t)datatype, TYPE_LAYOUT_CACHE_BITS)];
}

static inline bool datatype_is_cached(const struct type_layout *layout, MPI_Datatype datatype)
{
    /* relaxed: a program that frees a type in one thread and uses its handle's
     * next life in another has synchronised the two itself. */
    return layout->handle == (uint64_t)(uintptr_t)datatype &&
           layout->generation == atomic_load_explicit(&datatypes.generation, memory_order_relaxed);
}

/* A datatype was freed: its handle may come back with another layout. */
void datatype_forget(void);

/* Are there other bytes between those of `count` elements? */
bool datatype_has_gaps(const struct type_layout *layout, MPI_Count count);

/* May elements to send have gaps in spite of that? A type to send may name bytes twice (MPI 4.1, 5.1.11: only a receive
 * may not) and leave out as many: it is as large as its extent, and yet MPI may be receiving into a gap. No predefined
 * type is that long. */
static inline bool datatype_may_hide_gaps(const struct type_layout *layout)
{
    enum { PREDEFINED_BYTES_MAX = 32 };
    return layout->size_bytes > PREDEFINED_BYTES_MAX;
}

/* How many bytes `count` elements have: 0 where the type is not known, UINT64_MAX where it is more than that. */
uint64_t datatype_bytes(const struct type_layout *layout, MPI_Count count);

/* All bytes between the first and the last that `count` elements touch. */
struct range datatype_span(const struct type_layout *layout, const void *buffer, MPI_Count count);

#endif
