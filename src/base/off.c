/* SPDX-License-Identifier: MIT */
#include "base/off.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum state { UNKNOWN, ON, OFF };

bool base_off_is(void)
{
    /* relaxed: every thread that finds nothing reads the same environment. */
    static _Atomic enum state state;
    enum state known = atomic_load_explicit(&state, memory_order_relaxed);
    if (known != UNKNOWN)
        return known == OFF;
    const char *wish = getenv("LAPWING");
    known = wish != NULL && strcmp(wish, "off") == 0 ? OFF : ON;
    atomic_store_explicit(&state, known, memory_order_relaxed);
    return known == OFF;
}
