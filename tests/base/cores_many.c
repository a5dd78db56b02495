/* SPDX-License-Identifier: MIT */
/* Claim: the cores of this process are found on a kernel that can have more of them than a cpu_set_t names; where there
 * are none among those, there are none. */
#include <errno.h>
#include <string.h>

#include "base/cores.h"
#include "claim.h"

enum { POSSIBLE = 8192, OWN = 3, FAR = CPU_SETSIZE + 5 };

static int own = OWN;

/* In place of libc's: as Linux answers (sched_getaffinity(2), EINVAL). */
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *cores)
{
    (void)process;
    if (bytes * 8 < POSSIBLE) {
        errno = EINVAL;
        return -1;
    }
    memset(cores, 0, bytes);
    CPU_SET_S(own, bytes, cores);
    return 0;
}

int main(void)
{
    cpu_set_t cores;
    claim(base_cores_allowed(&cores) && CPU_COUNT(&cores) == 1 && CPU_ISSET(OWN, &cores), "found among 8192");
    own = FAR;
    claim(!base_cores_allowed(&cores) && CPU_COUNT(&cores) == 0, "none among the first");
    return 0;
}
