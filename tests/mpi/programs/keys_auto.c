/* SPDX-License-Identifier: MIT */
/* Claim: with an RDMA device open (here a file in the folder of such) and a processor with protection keys, memory is
 * held where it is, unasked.
 * environment: LAPWING_HOLD=auto
 * defers: send receive
 * quick: openmpi4 mpich4 signal-1 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 10, TRIES = 1000 };
static const char folder[] = "/dev/infiniband";

/* The other rank may remove the folder between the two calls, as long as nothing is in it. */
static int device_open(char *path, size_t length)
{
    int file = -1;
    snprintf(path, length, "%s/lapwing.test.%d", folder, (int)getpid());
    for (int i = 0; i < TRIES && file < 0; i++) {
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return -1;
        file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    }
    return file;
}

static void device_remove(const char *path)
{
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    char path[64];
    if (!check_has_keys()) {
        return check_skip("this processor has no protection keys");
    }
    if (device_open(path, sizeof path) < 0) {
        return check_skip("no file can be made in /dev");
    }
    check_start(&argc, &argv);
    device_remove(path);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
    return check_end();
}
