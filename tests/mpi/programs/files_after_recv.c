/* SPDX-License-Identifier: MIT */
/* Claim: who has received reads what the sender wrote before it sent, in a file that both had opened before.
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static int file;
static char text[8];

static void write_word(int way)
{
    (void)way;
    check(pwrite(file, "word", 4, 0) == 4, "writing");
}

static bool maps_word(void)
{
    char *mapped = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, file, 0);
    return mapped != MAP_FAILED && memcmp(mapped, "word", 4) == 0 && munmap(mapped, 4) == 0;
}

static bool reads_word(int way)
{
    struct iovec part = {text, 4};
    struct stat status;
    switch (way) {
    case 0:
        return read(file, text, 4) == 4;
    case 1:
        return pread(file, text, 4, 0) == 4;
    case 2:
        return readv(file, &part, 1) == 4;
    case 3:
        return preadv(file, &part, 1, 0) == 4;
    case 4:
        return fread(text, 1, 4, fdopen(dup(file), "r")) == 4;
    case 5:
        return lseek(file, 0, SEEK_END) == 4;
    case 6:
        return maps_word();
    default:
        return fstat(file, &status) == 0 && status.st_size == 4;
    }
}

int main(int argc, char **argv)
{
    enum { WAYS = 8 };
    char path[64] = "/tmp/files_after_recv_XXXXXX";
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check(check_rank() != 0 || close(mkstemp(path)) == 0, "a file");
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    file = open(path, O_RDWR);
    for (int way = 0; way < WAYS; way++) {
        check(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0, "an empty file");
        check_found_after_recv("what was written is there", way, write_word, reads_word, buffer, CHECK_LARGE_BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check(check_rank() != 0 || unlink(path) == 0, "removing the file");
    return check_end();
}
