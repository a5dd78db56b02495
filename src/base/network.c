/* SPDX-License-Identifier: MIT */
#include "base/network.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/folder.h"

struct search {
    int folder;
    long fastest_mbit;
};

/* A network that is down, and one that has no speed (loopback), answers with an error or with -1
 * (Documentation/ABI/testing/sysfs-class-net). */
static long speed_read(int folder, const char *network)
{
    char path[IF_NAMESIZE + sizeof "/speed"];
    char text[24];
    snprintf(path, sizeof path, "%s/speed", network);
    base_folder_read(folder, path, text, sizeof text);
    return strtol(text, NULL, 10);
}

static void network_visit(const char *name, void *context)
{
    struct search *search = context;
    long speed_mbit = speed_read(search->folder, name);
    if (speed_mbit > search->fastest_mbit)
        search->fastest_mbit = speed_mbit;
}

long base_network_fastest_mbit(void)
{
    struct search search = {.folder = base_folder_open("/sys/class/net")};
    if (search.folder < 0)
        return 0;
    (void)base_folder_visit(search.folder, network_visit, &search);
    syscall(SYS_close, search.folder);
    return search.fastest_mbit;
}
