/* SPDX-License-Identifier: MIT */
/* Claim: until there is an engine no epoll set holds the sockets that were reported; then two do, but not what another
 * kind of file has taken the number of. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/sockets.h"

/* Lines "tfd: NUMBER ..." of an epoll set (proc_pid_fdinfo(5)). */
static int count_in(const char *name, int descriptor)
{
    char path[300];
    char line[256];
    int watched;
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%s", name);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += sscanf(line, "tfd: %d", &watched) == 1 && watched == descriptor;
    if (file != NULL)
        fclose(file);
    return count;
}

static int sets_that_hold(int descriptor)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fdinfo");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += count_in(entry->d_name, descriptor);
    closedir(folder);
    return count;
}

static int reported_socket(void)
{
    int ends[2];
    claim(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets");
    engine_sockets_add(ends[1]);
    return ends[1];
}

int main(void)
{
    int pipe_ends[2];
    int early = reported_socket();
    int closed = reported_socket();
    claim(pipe(pipe_ends) == 0 && dup2(pipe_ends[0], closed) == closed, "a pipe takes a socket's number");
    claim(sets_that_hold(early) == 0, "nothing holds it before there is an engine");
    claim(engine_sockets_open(), "the sets");
    claim(sets_that_hold(early) == 2, "those of the engine do then");
    claim(sets_that_hold(closed) == 0, "not the pipe");
    claim(sets_that_hold(reported_socket()) == 2, "one that appears later is there at once");
    engine_sockets_discard();
    return 0;
}
