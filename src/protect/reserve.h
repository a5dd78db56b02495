/* SPDX-License-Identifier: MIT */
/* Mappings kept back, so that a hold can always end.
 *
 * To move pages home, or to let writers in again, the kernel may need a few
 * mappings more for a moment (or until neighbours are released), and refuses
 * when the process has used up vm.max_map_count. The program may do so at any
 * time while memory is held. So a hold is only armed when its way back has been
 * paid for. All functions under table.c's lock. */
#ifndef PROTECT_RESERVE_H
#define PROTECT_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

/* Are enough mappings kept back for so many holds at once? Fills up as needed,
 * which costs something only when there are more holds than ever before. */
bool reserve_cover(uint32_t holds);

/* After the kernel refused for want of mappings: gives some to it. False when
 * none are left. */
bool reserve_spend(void);

void reserve_stop(void);

#endif
