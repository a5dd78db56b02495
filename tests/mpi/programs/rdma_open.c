/* SPDX-License-Identifier: MIT */
/* Claim: with an RDMA device open (here a file by the name of one) no memory is
 * moved, whatever the options say (keys move none), and sends still return early.
 * defers: send
 * passes: transport
 * variants: default userfaultfd userfaultfd-user signal userfaultfd-1 signal-1 poll profile
 * quick: openmpi4 */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 10 };

static int device_open(void)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/knem.test.%d", (int)getpid());
    int file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    unlink(path);
    return file;
}

int main(int argc, char **argv)
{
    if (device_open() < 0) {
        return check_skip("no file can be made in /dev");
    }
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (check_rank() == 0) {
            check_fill(buffer, LENGTH, seed);
            check_send(buffer, LENGTH, 1, 0);
        } else {
            check_recv_late(buffer, LENGTH, seed, 0, 0, "the message");
        }
    }
    return check_end();
}
