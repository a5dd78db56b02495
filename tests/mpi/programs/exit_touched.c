/* SPDX-License-Identifier: MIT */
/* Claim: with copies on touch a process that another thread ends while a message is under way may still use the
 * whole buffer: by itself, and in a system call.
 * exit: nonzero
 * environment: LAPWING_SEND_BUFFERS=copy-touched
 * arguments: load write
 * timeout: 25
 * quick: openmpi4 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static unsigned char *buffer;
static bool is_written;

static void use_buffer(void)
{
    int sink = open("/dev/null", O_WRONLY);
    if (is_written && write(sink, buffer, CHECK_LARGE_BYTES) == CHECK_LARGE_BYTES)
        _exit(5);
    if (!is_written && check_is_filled(buffer, CHECK_LARGE_BYTES, 1))
        _exit(5);
    _exit(0); /* not what this test wants */
}

/* While the other thread waits for a message that never comes: then nobody waits for the send either. */
static void *end_process(void *unused)
{
    usleep(300000);
    exit(5);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t ender;
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    is_written = argc > 1 && strcmp(argv[1], "write") == 0;
    if (check_rank() == 1)
        sleep(20); /* ended by the launcher */
    atexit(use_buffer);
    pthread_create(&ender, NULL, end_process, NULL);
    check_fill(buffer, CHECK_LARGE_BYTES, 1);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 1); /* MPI alone waits here */
    check_recv(buffer + CHECK_LARGE_BYTES - 1, 1, 1, 2);
    return check_end();
}
