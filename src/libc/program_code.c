/* SPDX-License-Identifier: MIT */
#include "libc/program_code.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/libraries.h"
#include "base/object.h"
#include "base/symbol.h"
#include "base/text.h"

enum { NODES_MAX = 256 };
enum { SIDE_PROGRAM = 1, SIDE_MPI = 2 };

/* file_name: found once, since each is compared with all that others need. sides: is it linked with the program, with
 * MPI, or with both? */
struct node {
    struct object object;
    const char *file_name;
    unsigned sides;
};

/* In the linker's order: the executable comes first. */
struct graph {
    struct node nodes[NODES_MAX];
    size_t count;
    struct libc_program_code *code;
};

struct marking {
    struct graph *graph;
    unsigned side;
};

static bool needed_mark(const char *name, void *context);

static void node_mark(struct graph *graph, struct node *node, unsigned side)
{
    struct marking marking = {graph, side};
    if ((node->sides & side) != 0)
        return;
    node->sides |= side;
    object_find_needed(&node->object, needed_mark, &marking);
}

static bool node_is_named(const struct node *node, const char *name)
{
    return base_text_is(node->object.soname, name) || base_text_is(node->file_name, name);
}

static bool needed_mark(const char *name, void *context)
{
    const struct marking *marking = context;
    for (size_t i = 0; i < marking->graph->count; i++)
        if (node_is_named(&marking->graph->nodes[i], name))
            node_mark(marking->graph, &marking->graph->nodes[i], marking->side);
    return false;
}

static bool is_mpis(const struct node *node)
{
    return base_library_is_transport(node->file_name) || base_text_begins(node->file_name, "libpmi");
}

/* What stands before pthread_create() begins MPI's threads, too (ThreadSanitizer, tools that measure). */
static bool is_programs_alone(const struct node *node)
{
    struct symbol_name create = symbol_name_of("pthread_create");
    return node->sides == SIDE_PROGRAM && !object_is_own(&node->object) && symbol_find(&node->object, &create) == NULL;
}

static int node_add(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct graph *graph = context;
    (void)size_bytes;
    if (graph->count == NODES_MAX)
        return 1;
    struct node *node = &graph->nodes[graph->count];
    if (object_read(info, &node->object)) {
        node->file_name = object_file_name(&node->object);
        graph->count++;
    }
    return 0;
}

static void ranges_put(const struct graph *graph)
{
    uint32_t count = 0;
    for (size_t i = 0; i < graph->count && count < LIBC_PROGRAM_CODE_MAX; i++)
        if (is_programs_alone(&graph->nodes[i]))
            graph->code->ranges[count++] = graph->nodes[i].object.loaded;
    atomic_store_explicit(&graph->code->count, count, memory_order_release);
}

/* Called within the linker's walk, under its lock, so that nothing is unloaded meanwhile; for the first object. */
static int graph_evaluate(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct graph *graph = context;
    (void)info, (void)size_bytes;
    dl_iterate_phdr(node_add, graph);
    if (graph->count != 0)
        node_mark(graph, &graph->nodes[0], SIDE_PROGRAM);
    for (size_t i = 0; i < graph->count; i++)
        if (is_mpis(&graph->nodes[i]))
            node_mark(graph, &graph->nodes[i], SIDE_MPI);
    ranges_put(graph);
    return 1;
}

void libc_program_code_collect(struct libc_program_code *code)
{
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL)
        return;
    graph->code = code;
    dl_iterate_phdr(graph_evaluate, graph);
    free(graph);
}

bool libc_program_code_contains(const struct libc_program_code *code, uintptr_t address)
{
    uint32_t count = atomic_load_explicit(&code->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (base_range_has(code->ranges[i], address))
            return true;
    return false;
}
