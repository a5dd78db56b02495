/* SPDX-License-Identifier: MIT */
/* A limit of data (RLIMIT_DATA, ulimit -d) just above what the process has. */
#ifndef DATA_LIMIT_H
#define DATA_LIMIT_H

#include <sys/resource.h>

#include "check.h"

/* What the kernel compares with RLIMIT_DATA. */
static inline unsigned long data_limit_used_bytes(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmData: %lu", &kib) == 1)
            break;
    fclose(file);
    return kib << 10;
}

/* So much more than now. */
static inline void data_limit(unsigned long more_bytes)
{
    check(setrlimit(RLIMIT_DATA, &(struct rlimit){data_limit_used_bytes() + more_bytes, RLIM_INFINITY}) == 0,
          "setrlimit()");
}

#endif
