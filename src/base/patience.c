/* SPDX-License-Identifier: MIT */
#include "base/patience.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool base_patience_pause(int *pauses_left)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    if (*pauses_left <= 0)
        return false;
    --*pauses_left;
    syscall(SYS_nanosleep, &pause, NULL);
    return true;
}
