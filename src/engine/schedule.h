/* SPDX-License-Identifier: MIT */
/* Sharing a core with the program: the engine needs little, but at once. */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

/* Asks for the calling thread to run as soon as it wakes, as far as the system
 * permits (CAP_SYS_NICE or RLIMIT_NICE); without, nothing changes. */
void engine_schedule_promptly(void);

#endif
