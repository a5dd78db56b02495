/* SPDX-License-Identifier: MIT */
/* Claim: who has received finds, without waiting, what the sender left before it sent: a port open, a lock released,
 * a library, a named socket.
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { FIRST_NAMED = 3, WAYS = 5 };

static struct {
    struct sockaddr_in address;
    char path[64];
} shared = {.path = "/tmp/ipc_after_recv_XXXXXX"};
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static int own_socket;
static int own_file;

static void shared_make(void)
{
    socklen_t length = sizeof shared.address;
    shared.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    check(bind(own_socket, (struct sockaddr *)&shared.address, length) == 0, "a port");
    getsockname(own_socket, (struct sockaddr *)&shared.address, &length);
    check(close(mkstemp(shared.path)) == 0, "a file");
}

static void name_of(int way)
{
    snprintf(name.sun_path, sizeof name.sun_path, "%s.%d", shared.path, way);
}

static void shared_remove(void)
{
    unlink(shared.path);
    for (int way = FIRST_NAMED; way < WAYS; way++) {
        name_of(way);
        unlink(name.sun_path);
    }
}

/* Writes over the file that the lock was on. */
static void library_write(void)
{
    struct link_map *map;
    char command[1024];
    check(dlinfo(dlopen("libresolv.so.2", RTLD_NOW), RTLD_DI_LINKMAP, &map) == 0, "a library");
    snprintf(command, sizeof command, "cp %s %s", map->l_name, shared.path);
    check(system(command) == 0, "copying it");
}

static void name_bind(int way)
{
    name_of(way);
    check(bind(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&name, sizeof name) == 0, "a named socket");
}

static void leave(int way)
{
    if (way == 0)
        check(listen(own_socket, 5) == 0, "listen()");
    if (way == 1)
        check(flock(own_file, LOCK_UN) == 0, "unlocking");
    if (way == 2)
        library_write();
    if (way >= FIRST_NAMED)
        name_bind(way);
}

static bool is_heard(int way)
{
    struct iovec part = {"x", 1};
    struct msghdr message = {&name, sizeof name, &part, 1, NULL, 0, 0};
    int other = socket(AF_UNIX, SOCK_DGRAM, 0);
    name_of(way);
    if (way == FIRST_NAMED)
        return sendto(other, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1;
    return sendmsg(other, &message, 0) == 1;
}

static bool is_there(int way)
{
    int other = socket(AF_INET, SOCK_STREAM, 0);
    switch (way) {
    case 0:
        return connect(other, (struct sockaddr *)&shared.address, sizeof shared.address) == 0;
    case 1:
        return flock(own_file, LOCK_EX | LOCK_NB) == 0;
    case 2:
        return dlopen(shared.path, RTLD_NOW) != NULL;
    default:
        return is_heard(way);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    own_socket = socket(AF_INET, SOCK_STREAM, 0);
    if (check_rank() == 1)
        shared_make();
    MPI_Bcast(&shared, sizeof shared, MPI_BYTE, 1, MPI_COMM_WORLD);
    own_file = open(shared.path, O_RDWR);
    check(check_rank() == 0 || flock(own_file, LOCK_EX) == 0, "locking");
    for (int way = 0; way < WAYS; way++)
        check_found_after_recv("it is there", way, leave, is_there, buffer, CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1)
        shared_remove();
    return check_end();
}
