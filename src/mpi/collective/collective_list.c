/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_list.h"

#include <string.h>

#include "mpi/collective/collective_alone.h"
#include "mpi/datatypes.h"
#include "mpi/dispatch.h"

static void array_wait(struct argument_buffer_list list, int blocks)
{
    if (list.first != NULL && blocks > 0)
        dispatch_wait_argument(list.first, list.element_bytes * (size_t)blocks);
}

void collective_list_wait(const struct block_list *list, int blocks)
{
    array_wait(list->counts, blocks);
    array_wait(list->displacements, blocks);
    array_wait(ARGUMENT_BUFFER_LIST(list->types), blocks);
}

MPI_Count collective_list_count(const struct block_list *list, int blocks)
{
    MPI_Count sum = 0;
    for (int i = 0; i < blocks; i++) {
        MPI_Count count = argument_buffers_at(list->counts, i);
        if (count < 0)
            return count;
        sum += count;
    }
    return sum;
}

bool collective_list_is_even(const struct block_list *list, int blocks, int times)
{
    MPI_Count shortest = argument_buffers_at(list->counts, 0);
    MPI_Count longest = shortest;
    for (int i = 1; i < blocks; i++) {
        MPI_Count count = argument_buffers_at(list->counts, i);
        shortest = count < shortest ? count : shortest;
        longest = count > longest ? count : longest;
    }
    return shortest > 0 && longest <= times * shortest; /* in whatever unit */
}

static void displacement_put(struct argument_buffer_list list, void *kept, int i, int64_t place)
{
    if (list.element_bytes == sizeof(int))
        ((int *)kept)[i] = (int)place;
    else
        ((int64_t *)kept)[i] = place;
}

static size_t array_bytes(struct argument_buffer_list list, int blocks)
{
    return list.first != NULL ? list.element_bytes * (size_t)blocks : 0;
}

/* Handles of types, counts and displacements have 4 bytes or 8: each list begins where either may. */
static size_t array_kept_bytes(struct argument_buffer_list list, int blocks)
{
    return (array_bytes(list, blocks) + sizeof(int64_t) - 1) & ~(sizeof(int64_t) - 1);
}

static size_t lists_bytes(const struct block_lists_side *side)
{
    const struct block_list *list = &side->list;
    return array_kept_bytes(ARGUMENT_BUFFER_LIST(list->types), side->blocks) +
           array_kept_bytes(list->displacements, side->blocks) + array_kept_bytes(list->counts, side->blocks);
}

/* Copies an array of the program's behind what has been copied before. */
static const void *array_keep(char **memory, struct argument_buffer_list list, int blocks)
{
    void *kept = *memory;
    if (array_bytes(list, blocks) == 0)
        return list.first;
    memcpy(kept, list.first, array_bytes(list, blocks));
    *memory += array_kept_bytes(list, blocks);
    return kept;
}

void *collective_list_keep(struct collective_work *work)
{
    struct block_lists_side *sides[] = {&work->sent, &work->received};
    size_t length_bytes = lists_bytes(sides[0]) + lists_bytes(sides[1]);
    if (!work->is_given || length_bytes == 0)
        return NULL;
    char *memory = collective_alone_memory(length_bytes, "lists of counts");
    char *next = memory;
    for (int i = 0; i < 2; i++)
        sides[i]->list.types = array_keep(&next, ARGUMENT_BUFFER_LIST(sides[i]->list.types), sides[i]->blocks);
    for (int i = 0; i < 2; i++)
        sides[i]->list.displacements.first = array_keep(&next, sides[i]->list.displacements, sides[i]->blocks);
    for (int i = 0; i < 2; i++)
        sides[i]->list.counts.first = array_keep(&next, sides[i]->list.counts, sides[i]->blocks);
    return memory;
}

/* A step of some units: from MPI_BOTTOM one byte further on is MPI_IN_PLACE. */
void *collective_list_move(struct block_lists_side *side, int64_t *further_bytes)
{
    enum { UNITS = 64 };
    struct argument_buffer_list *places = &side->list.displacements;
    void *kept = collective_alone_memory(array_bytes(*places, side->blocks), "displacements");
    for (int i = 0; i < side->blocks; i++)
        displacement_put(*places, kept, i, argument_buffers_at(*places, i) - UNITS);
    places->first = kept;
    *further_bytes = UNITS * (side->list.types != NULL ? 1 : datatype_layout(side->type)->extent_bytes);
    return kept;
}
