/* SPDX-License-Identifier: MIT */
/* Claim: who has received finds, without waiting, what the sender left before it sent: a message in a queue, a
 * semaphore raised, a port open, a lock released, a library, a named socket.
 * defers: receive */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { WAYS = 8 };

static struct {
    int queue;
    int semaphores;
    struct sockaddr_in address;
    char path[64];
} shared = {.path = "/tmp/ipc_after_recv_XXXXXX"};
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static int own_socket;
static int own_file;

static void shared_make(void)
{
    socklen_t length = sizeof shared.address;
    shared.queue = msgget(IPC_PRIVATE, 0600);
    shared.semaphores = semget(IPC_PRIVATE, 1, 0600);
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
    msgctl(shared.queue, IPC_RMID, NULL);
    semctl(shared.semaphores, 0, IPC_RMID);
    unlink(shared.path);
    for (int way = 5; way < WAYS; way++) {
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
    struct sembuf raise = {.sem_op = 1};
    if (way == 0)
        check(msgsnd(shared.queue, &(struct msgbuf){1, "x"}, 1, 0) == 0, "msgsnd()");
    if (way == 1)
        check(semop(shared.semaphores, &raise, 1) == 0, "semop()");
    if (way == 2)
        check(listen(own_socket, 5) == 0, "listen()");
    if (way == 3)
        check(flock(own_file, LOCK_UN) == 0, "unlocking");
    if (way == 4)
        library_write();
    if (way > 4)
        name_bind(way);
}

static bool is_heard(int way)
{
    struct iovec part = {"x", 1};
    struct mmsghdr message = {.msg_hdr = {&name, sizeof name, &part, 1, NULL, 0, 0}};
    int other = socket(AF_UNIX, SOCK_DGRAM, 0);
    name_of(way);
    if (way == 5)
        return sendto(other, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1;
    if (way == 6)
        return sendmsg(other, &message.msg_hdr, 0) == 1;
    return sendmmsg(other, &message, 1, 0) == 1;
}

static bool is_there(int way)
{
    struct msgbuf message;
    struct sembuf lower = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
    int other = socket(AF_INET, SOCK_STREAM, 0);
    switch (way) {
    case 0:
        return msgrcv(shared.queue, &message, 1, 0, IPC_NOWAIT) == 1;
    case 1:
        return semop(shared.semaphores, &lower, 1) == 0;
    case 2:
        return connect(other, (struct sockaddr *)&shared.address, sizeof shared.address) == 0;
    case 3:
        return flock(own_file, LOCK_EX | LOCK_NB) == 0;
    case 4:
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
