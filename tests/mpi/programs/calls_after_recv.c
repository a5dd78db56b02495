/* SPDX-License-Identifier: MIT */
/* Claim: who has received finds what the sender left, also where it looks by the numbers of system calls.
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#ifndef SYS_openat2
enum { SYS_openat2 = 437 };
#endif

enum { LENGTH = 200000, WAYS = 9 };

/* struct open_how of linux/openat2.h, which not every system has. */
struct how {
    unsigned long long flags;
    unsigned long long mode;
    unsigned long long resolve;
};

static char folder[64] = "/tmp/calls_after_recv_XXXXXX";
static int own_folder;
static int own_file;

static void leave(int way)
{
    (void)way;
    check(flock(own_file, LOCK_UN) == 0, "unlocking");
    check(pwrite(own_file, "word", 4, 0) == 4, "writing");
    check(close(openat(own_folder, "made", O_WRONLY | O_CREAT | O_EXCL, 0600)) == 0, "making a file");
}

static bool is_mapped(void)
{
    char *mapped = (char *)syscall(SYS_mmap, NULL, 4, PROT_READ, MAP_PRIVATE, own_file, 0);
    return mapped != MAP_FAILED && memcmp(mapped, "word", 4) == 0;
}

static bool is_there(int way)
{
    struct statx facts;
    struct how how = {.flags = O_RDONLY};
    char text[8];
    switch (way) {
    case 0:
        return syscall(SYS_openat, own_folder, "made", O_RDONLY, 0) >= 0;
    case 1:
        return syscall(SYS_statx, own_folder, "made", 0, STATX_BASIC_STATS, &facts) == 0;
    case 2:
        return syscall(SYS_faccessat, own_folder, "made", R_OK) == 0;
    case 3:
        return syscall(SYS_unlinkat, own_folder, "made", 0) == 0;
    case 4:
        return syscall(SYS_lseek, own_file, 0, SEEK_END) == 4;
    case 5:
        return syscall(SYS_flock, own_file, LOCK_EX | LOCK_NB) == 0;
    case 6:
        return syscall(SYS_pread64, own_file, text, 4, 0) == 4;
    case 7:
        return syscall(SYS_openat2, own_folder, "made", &how, sizeof how) >= 0 || errno == ENOSYS;
    default:
        return is_mapped();
    }
}

static void file_prepare(void)
{
    if (check_rank() == 0) {
        (void)unlinkat(own_folder, "made", 0);
        check(ftruncate(own_file, 0) == 0 && flock(own_file, LOCK_UN) == 0, "an empty file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() == 0 || flock(own_file, LOCK_EX) == 0, "locking");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(check_rank() != 0 || mkdtemp(folder) != NULL, "a folder");
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    own_folder = open(folder, O_RDONLY | O_DIRECTORY);
    own_file = openat(own_folder, "kept", O_RDWR | O_CREAT, 0600);
    for (int way = 0; way < WAYS; way++) {
        file_prepare();
        check_found_after_recv("it is there", way, leave, is_there, buffer, LENGTH);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    (void)unlinkat(own_folder, "made", 0);
    (void)unlinkat(own_folder, "kept", 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() != 0 || rmdir(folder) == 0, "removing the folder");
    return check_end();
}
