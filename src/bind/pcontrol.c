/* SPDX-License-Identifier: MIT */
/* MPI_Pcontrol, the standard's way to talk to what stands between a program and its
 * MPI (MPI 4.1, 15.2.4): level 0 switches it off, 1 on, 2 flushes. Here: nothing
 * begins any more, it may again, all that is under way is waited for. Further
 * levels, and all that comes after the level, are for others.
 *
 * The function takes any arguments, which C cannot hand on. So its entry is made in
 * assembly: it asks here where to go, and goes there with all registers and the
 * stack as they were. */
#include <stddef.h>

#include "base/options.h"
#include "bind/state.h"
#include "op/session.h"
#include "op/transfer.h"

enum { LEVEL_OFF = 0, LEVEL_ON = 1, LEVEL_FLUSH = 2 };

static void pcontrol_obey(int level)
{
    if (level == LEVEL_OFF || level == LEVEL_ON)
        session_pause(level == LEVEL_OFF);
    else if (level == LEVEL_FLUSH)
        transfer_wait_due();
}

/* Called by the entries in assembly with the number of the name and the first argument. */
void *pcontrol_tell(size_t index, int level);
void *pcontrol_tell(size_t index, int level)
{
    if (options.pcontrol)
        pcontrol_obey(level);
    return bind_next(index);
}
