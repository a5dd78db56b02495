/* SPDX-License-Identifier: MIT */
#include "base/cores.h"

#include <stdio.h>
#include <stdlib.h>

/* The kernel takes no shorter set than it has processors, present ones or not; x86-64 can have 8192. */
bool base_cores_allowed(cpu_set_t *cores)
{
    enum { PROCESSORS_MOST = 1 << 16 };
    cpu_set_t all[PROCESSORS_MOST / CPU_SETSIZE];
    CPU_ZERO(cores);
    if (sched_getaffinity(0, sizeof all, all) == 0)
        *cores = all[0];
    return CPU_COUNT(cores) != 0;
}

/* "3" or "3-5"; where it ends, or NULL. */
static const char *range_parse(const char *text, long *first, long *last)
{
    char *end;
    *first = strtol(text, &end, 10);
    *last = *first;
    if (end == text)
        return NULL;
    if (*end == '-') {
        const char *second = end + 1;
        *last = strtol(second, &end, 10);
        if (end == second)
            return NULL;
    }
    return *first >= 0 && *first <= *last && *last < CPU_SETSIZE ? end : NULL;
}

bool base_cores_parse(const char *text, cpu_set_t *cores)
{
    long first;
    long last;
    CPU_ZERO(cores);
    do {
        text = range_parse(text, &first, &last);
        for (long core = first; text != NULL && core <= last; core++)
            CPU_SET((int)core, cores);
    } while (text != NULL && *text++ == ',');
    bool is_list = text != NULL && (text[-1] == '\0' || text[-1] == '\n');
    if (!is_list)
        CPU_ZERO(cores);
    return is_list;
}

static int range_last(const cpu_set_t *cores, int first)
{
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cores))
        last++;
    return last;
}

void base_cores_format(const cpu_set_t *cores, char *text, size_t text_bytes)
{
    size_t used_bytes = 0;
    text[0] = '\0';
    for (int core = 0; core < CPU_SETSIZE; core++) {
        char item[32];
        if (!CPU_ISSET(core, cores))
            continue;
        int last = range_last(cores, core);
        const char *comma = used_bytes == 0 ? "" : ",";
        int item_bytes = last == core ? snprintf(item, sizeof item, "%s%d", comma, core)
                                      : snprintf(item, sizeof item, "%s%d-%d", comma, core, last);
        if (used_bytes + (size_t)item_bytes >= text_bytes)
            return;
        snprintf(text + used_bytes, text_bytes - used_bytes, "%s", item);
        used_bytes += (size_t)item_bytes;
        core = last;
    }
}
