/* SPDX-License-Identifier: MIT */
/* When the engine, although there is work, leaves the program and the data alone for
 * a while. This file only says how long. Engine thread only. */
#ifndef ENGINE_PACE_H
#define ENGINE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sockets.h"

/* The engine leaves its parking place. */
void engine_pace_start(void);

/* A poll begins: the program may keep the engine waiting anew. */
void engine_pace_poll(void);

/* How long to wait until the program has begun all ops that belong together; 0: go. */
int64_t engine_pace_settle_ns(void);

/* The same for operations that are assisted, as a nap; false: there is none to take. */
bool engine_pace_has_nap_to_settle(void);

/* Naps: the program was inside MPI and did the work itself. 0: no nap. */
int64_t engine_pace_nap_ns(void);
void engine_pace_nap_longer(void);
void engine_pace_nap_no_more(void);

/* After a sleep: when it began, and what waits in the sockets that ended it. */
void engine_pace_slept(int64_t begin_ns, struct engine_sockets_waiting waiting);

/* How long data may gather before the next sleep; 0: not at all. */
int64_t engine_pace_rest_ns(void);

/* How many polls of MPI this wake-up is worth. */
uint32_t engine_pace_polls_due(void);

#endif
