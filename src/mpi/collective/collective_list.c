/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_list.h"

#include <string.h>

#include "mpi/collective/collective_alone.h"
#include "mpi/datatypes.h"
#include "mpi/dispatch.h"

static void array_wait(const void *array, size_t element_bytes, int blocks)
{
    if (array != NULL && blocks > 0)
        dispatch_wait_argument(array, element_bytes * (size_t)blocks);
}

void collective_list_wait(const struct collective_work_list *list, int blocks)
{
    array_wait(list->counts, sizeof *list->counts, blocks);
    array_wait(list->displacements, sizeof *list->displacements, blocks);
    array_wait(list->types, sizeof *list->types, blocks);
}

MPI_Count collective_list_count(const struct collective_work_list *list, int blocks)
{
    MPI_Count sum = 0;
    for (int i = 0; i < blocks; i++)
        sum += list->counts[i];
    return sum;
}

static void span_include(struct collective_list_span *span, struct range part)
{
    bool is_first = base_range_is_empty(span->range);
    if (base_range_is_empty(part))
        return;
    span->range.low = is_first || part.low < span->range.low ? part.low : span->range.low;
    span->range.high = is_first || part.high > span->range.high ? part.high : span->range.high;
}

static bool span_add(struct collective_list_span *span, const void *buffer, const struct collective_work_side *side,
                     int block)
{
    const struct collective_work_list *list = &side->list;
    MPI_Count count = list->counts[block];
    if (count == 0)
        return true;
    const struct type_layout *layout = datatype_layout(list->types != NULL ? list->types[block] : side->type);
    if (count < 0 || !layout->is_known)
        return false;
    int64_t unit_bytes = list->types != NULL ? 1 : layout->extent_bytes;
    uintptr_t at = (uintptr_t)buffer + (uintptr_t)(list->displacements[block] * unit_bytes);
    span_include(span, datatype_span(layout, (const void *)at, count));
    span->bytes += (uint64_t)layout->size_bytes * (uint64_t)count;
    return true;
}

struct collective_list_span collective_list_span(const void *buffer, const struct collective_work_side *side,
                                                 int blocks)
{
    struct collective_list_span span = {.is_known = true};
    for (int i = 0; span.is_known && i < blocks; i++)
        span.is_known = span_add(&span, buffer, side, i);
    return span;
}

/* Copies an array of the program's behind what has been copied before. */
static const void *array_keep(char **memory, const void *array, size_t length_bytes)
{
    void *kept = *memory;
    if (array == NULL)
        return NULL;
    memcpy(kept, array, length_bytes);
    *memory += length_bytes;
    return kept;
}

/* Types first: handles may be pointers, and ints need less alignment. */
void *collective_list_keep(struct collective_work *work)
{
    struct collective_work_list *lists[] = {&work->sent.list, &work->received.list};
    size_t blocks = (size_t)work->size;
    if (!collective_work_is_listed(work->function))
        return NULL;
    char *memory = collective_alone_memory(2 * blocks * (sizeof(MPI_Datatype) + 2 * sizeof(int)), "lists of counts");
    char *next = memory;
    for (int i = 0; i < 2; i++)
        lists[i]->types = array_keep(&next, lists[i]->types, blocks * sizeof(MPI_Datatype));
    for (int i = 0; i < 2; i++) {
        lists[i]->counts = array_keep(&next, lists[i]->counts, blocks * sizeof(int));
        lists[i]->displacements = array_keep(&next, lists[i]->displacements, blocks * sizeof(int));
    }
    return memory;
}
