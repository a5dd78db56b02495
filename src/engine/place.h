/* SPDX-License-Identifier: MIT */
/* On which cores the engine runs: those that the program gave up (lib/dedicate.c), that the user has named, or that no
 * rank of this host uses (`--engine-cores`); else the program's. */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include <sched.h>
#include <stdbool.h>

#include "engine/spare.h"

/* Written by engine_place_configure(); refusal and spare by engine_place_look(), too. The engine reads them, and sets
 * shares_core anew: a number for a judgement, read by any thread, relaxed. */
struct engine_place {
    cpu_set_t own;    /* the program's */
    cpu_set_t wished; /* the engine's, where they are listed */
    bool is_listed;
    bool finds_spare;
    const char *refusal; /* why the engine stays on the program's; NULL: nothing is known against it */
    struct engine_spare spare;
    _Atomic bool shares_core; /* one that computes */
    char rank[16];
};

/* In MPI_Init. */
void engine_place_configure(struct engine_place *place);

/* Before the engine's thread starts, by the thread that starts it, inside a call: files that the engine opened beside
 * the program would take the numbers that the program's own open() is to give. */
void engine_place_look(struct engine_place *place);

/* Binds the calling thread, the engine. Where that is refused, rank 0 prints why, and the engine has the program's. */
void engine_place_bind(struct engine_place *place);

#endif
