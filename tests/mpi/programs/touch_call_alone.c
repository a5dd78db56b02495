/* SPDX-License-Identifier: MIT */
/* Claim: a system call on a pending message keeps nobody else waiting, and signals are handled meanwhile: it does not
 * wait in the kernel, with the lock of the file or of the pipe.
 * defers: any
 * environment: LAPWING_SEND_BUFFERS=hold
 * arguments: file pipe alarm
 * timeout: 30
 * quick: openmpi4 mpich4 userfaultfd */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { PART_BYTES = 4096, ALARM_S = 1 };
static unsigned char *buffer;
static unsigned char part[PART_BYTES];
static int ends; /* of a pipe of both ranks */

static int file_open(void)
{
    char path[64] = "/tmp/touch_call_alone_XXXXXX";
    check(check_rank() != 0 || close(mkstemp(path)) == 0, "a file");
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    int file = open(path, O_RDWR);
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() != 0 || unlink(path) == 0, "an end of it");
    return file;
}

/* Rank 0 writes what it has received; rank 1 writes to the same file before it sends. */
static void share_file(int file)
{
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        check(pwrite(file, buffer, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "writing the message");
        return;
    }
    check_delay();
    check(pwrite(file, part, PART_BYTES, CHECK_LARGE_BYTES) == PART_BYTES, "writing beside it");
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
}

/* Rank 0 reads over what it has sent; rank 1 writes more to the pipe before it receives. */
static void share_pipe(void)
{
    if (check_rank() == 0) {
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
        check(read(ends, buffer, PART_BYTES) == PART_BYTES, "reading over the message");
        return;
    }
    check(write(ends, part, PART_BYTES) == PART_BYTES, "filling the pipe");
    check_delay();
    check(write(ends, part, PART_BYTES) == PART_BYTES, "filling it more");
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
}

static void tell_peer(int number)
{
    (void)number;
    check(write(ends, part, 1) == 1, "telling the peer");
}

/* Rank 1 sends when rank 0's handler says so. */
static void handle_alarm(int file)
{
    if (check_rank() == 0) {
        signal(SIGALRM, tell_peer);
        alarm(ALARM_S);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        check(pwrite(file, buffer, CHECK_LARGE_BYTES, 0) == CHECK_LARGE_BYTES, "writing the message");
        return;
    }
    check(read(ends, part, 1) == 1, "being told");
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int file = file_open();
    ends = check_pipe();
    if (strcmp(argv[1], "file") == 0)
        share_file(file);
    if (strcmp(argv[1], "pipe") == 0)
        share_pipe();
    if (strcmp(argv[1], "alarm") == 0)
        handle_alarm(file);
    return check_end();
}
