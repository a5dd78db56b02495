/* SPDX-License-Identifier: MIT */
#include "record/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool record_file_may_reach(uint64_t end_bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || end_bytes <= limit.rlim_cur);
}

static bool file_look(int file, struct stat *status)
{
    return syscall(SYS_fstat, file, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

bool record_file_is_own(int file, uint64_t length_bytes)
{
    struct stat status;
    return file_look(file, &status) && (uint64_t)status.st_size >= length_bytes;
}

bool record_file_is_fit(int file, uint64_t length_bytes)
{
    struct stat status;
    return file_look(file, &status) && status.st_nlink == 1 &&
           record_file_may_reach((uint64_t)status.st_size + length_bytes);
}
