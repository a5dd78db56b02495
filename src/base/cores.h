/* SPDX-License-Identifier: MIT */
/* Sets of processors as Linux writes them in /sys and as environment variables
 * carry them: "0-3,8". */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* The cores of the engine: a list by the user (--engine-cores), or once a process or its parent has planned
 * (lib/dedicate.c); then empty where it got none. */
#define BASE_CORES_VARIABLE "LAPWING_ENGINE_CORES"
/* Its value where the engine is to find hardware threads that no rank uses (engine/spare.h). */
#define BASE_CORES_AUTO "auto"

/* Those that the calling thread may use, of the first CPU_SETSIZE. False, and an empty set, where there are none. */
bool base_cores_allowed(cpu_set_t *cores);

/* False, and an empty set, when the text is no list, or an empty one. */
bool base_cores_parse(const char *text, cpu_set_t *cores);

/* Cut short, at a whole number, where there is not enough room. */
void base_cores_format(const cpu_set_t *cores, char *text, size_t text_bytes);

#endif
