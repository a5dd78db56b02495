/* SPDX-License-Identifier: MIT */
/* Sets of processors as Linux writes them in /sys and as environment variables
 * carry them: "0-3,8". */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* Set once a process or its parent has planned (lib/dedicate.c): the cores that
 * the engine got, or empty. */
#define BASE_CORES_VARIABLE "LAPWING_ENGINE_CORES"

/* False, and an empty set, when the text is no list, or an empty one. */
bool base_cores_parse(const char *text, cpu_set_t *cores);

/* Cut short, at a whole number, where there is not enough room. */
void base_cores_format(const cpu_set_t *cores, char *text, size_t text_bytes);

#endif
