/* SPDX-License-Identifier: MIT */
/* How the engine learns that there is something to do: option `progress`, and what
 * `auto` makes of it. Engine thread, except where a function says otherwise. */
#ifndef ENGINE_STRATEGY_H
#define ENGINE_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

/* Before the engine starts. */
void engine_strategy_configure(enum option_progress wish, bool has_silent_peers);

/* By option `progress` there is an engine, and it need not be told to poll. Any thread. */
static inline bool engine_strategy_polls_by_itself(void)
{
    return options.progress != OPTION_PROGRESS_MANUAL && options.progress != OPTION_PROGRESS_OFF;
}

/* When its first work has come: by then the MPI library has its sockets. */
void engine_strategy_choose(void);

/* A choice of option `progress` other than auto; "none" before the first. Any thread. */
const char *engine_strategy_name(void);

bool engine_strategy_is_polling(void);

/* Looks only for touches and for who calls engine_progress(); there is none now. */
bool engine_strategy_is_idle(void);

/* May UCX tell of what comes? Any thread. */
bool engine_strategy_hears_ucx(void);

/* After a poll: will it tell of what comes next? Any thread may say that it does not tell of all. */
void engine_strategy_note_armed(bool is_armed);

/* Does it look again at once, since somebody waits? */
bool engine_strategy_never_sleeps(void);

/* Longest sleep. */
int64_t engine_strategy_timeout_ns(void);

/* Is it one that something else should have ended? */
bool engine_strategy_is_guard(int64_t timeout_ns);

/* After a poll: sleep longer next time, or as short as at first. */
void engine_strategy_back_off(bool has_progressed);

/* After a poll that ended `ended` ops; `is_timeout`: a sleep's time was over, and no
 * event had come. Returns whether one was waited for. */
bool engine_strategy_judge(bool is_timeout, uint32_t ended);

#endif
