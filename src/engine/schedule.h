/* SPDX-License-Identifier: MIT */
/* Sharing a core with the program: the engine needs little, but at once. */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

/* For the calling thread: a short time slice, so that the kernel lets it run as
 * soon as it wakes and no longer than it needs (Linux 6.12: sched_setattr(2),
 * sched_runtime of SCHED_OTHER; EEVDF's PREEMPT_SHORT). Older kernels ignore it. */
void engine_schedule_promptly(void);

#endif
