/* SPDX-License-Identifier: MIT */
#include "record/name.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static bool folder_is_own(const char *directory)
{
    struct stat status;
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_own = folder >= 0 && syscall(SYS_fstat, folder, &status) == 0 && status.st_uid == geteuid();
    if (folder >= 0)
        close(folder);
    return is_own;
}

const char *record_name_folder(void)
{
    const char *directory = secure_getenv("LAPWING_RECORD_DIR");
    return directory != NULL && folder_is_own(directory) ? directory : NULL;
}

/* What a number that is drawn at each boot looks like: boot_id in random(4). */
enum { BOOT_BYTES = 36 };

static bool boot_read(char *boot)
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    bool is_read = file >= 0 && read(file, boot, BOOT_BYTES) == BOOT_BYTES;
    if (file >= 0)
        close(file);
    return is_read;
}

/* The number of the UTS namespace, which the host name belongs to (uts_namespaces(7)); 0: not known. */
static unsigned long long namespace_number(void)
{
    struct stat status;
    bool is_known = syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/uts", &status, 0) == 0;
    return is_known ? (unsigned long long)status.st_ino : 0;
}

bool record_name_of_host(char *name, size_t name_bytes, const char *directory, const char *kind)
{
    char host[64] = "";
    char boot[BOOT_BYTES + 1] = "";
    unsigned long long number = namespace_number();
    gethostname(host, sizeof host - 1);
    if (number == 0 || !boot_read(boot))
        return false;
    int length = snprintf(name, name_bytes, "%s/%s-%s-%llu.%s", directory, host, boot, number, kind);
    return length > 0 && (size_t)length < name_bytes;
}

bool record_name_make(char *name, size_t name_bytes, const char *directory, int rank, const char *kind)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int length = snprintf(name, name_bytes, "%s/%s-%d-%d-%016llx.%s", directory, host, (int)getpid(), rank,
                          (unsigned long long)base_clock_unix_ns(), kind);
    return length > 0 && (size_t)length < name_bytes;
}
