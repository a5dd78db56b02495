/* SPDX-License-Identifier: MIT */
/* Claim: who has received finds by name the files that the sender made before it sent.
 * defers: receive */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <semaphore.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <dirent.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 200000 };

static char text[8192];
static int seen;

static int visit(const char *path, const struct stat *status, int kind)
{
    (void)path, (void)status;
    seen += kind == FTW_F;
    return 0;
}

static int visit_more(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    return visit(path, status, kind);
}

static bool list_finds(void)
{
    char *paths[] = {"made/file", NULL};
    FTS *list = fts_open(paths, FTS_PHYSICAL, NULL);
    FTSENT *entry = fts_read(list);
    bool is_found = entry != NULL && entry->fts_info == FTS_F;
    fts_close(list);
    return is_found;
}

static bool resolve(int way)
{
    glob_t found;
    struct dirent **list;
    switch (way) {
    case 0:
        return realpath("made/file", text) != NULL;
    case 1:
        return canonicalize_file_name("made/file") != NULL;
    case 2:
        return glob("made/*", 0, NULL, &found) == 0;
    case 3:
        return scandir("made", &list, NULL, NULL) == 3;
    case 4:
        return ftw("made", visit, 5) == 0 && seen == 1;
    case 5:
        return nftw("made", visit_more, 5, 0) == 0 && seen == 1;
    case 6:
        return list_finds();
    case 7:
        return chdir("made") == 0 && chdir("..") == 0;
    default:
        return freopen("made/file", "r", stdin) != NULL;
    }
}

static bool look(int way)
{
    struct statvfs facts;
    struct statfs more_facts;
    switch (way) {
    case 0:
        return statvfs("made/file", &facts) == 0;
    case 1:
        return statfs("made/file", &more_facts) == 0;
    case 2:
        return getxattr("made/file", "user.none", text, sizeof text) == 0 || errno != ENOENT;
    case 3:
        return inotify_add_watch(inotify_init(), "made/file", IN_OPEN) >= 0;
    case 4:
        return ftok("made/file", 1) != -1;
    case 5:
        return euidaccess("made/file", R_OK) == 0;
    default:
        return pathconf("made/file", _PC_NAME_MAX) > 0;
    }
}

static bool change(int way)
{
    switch (way) {
    case 0:
        return chmod("made/file", 0600) == 0;
    case 1:
        return chown("made/file", getuid(), getgid()) == 0;
    case 2:
        return utimensat(AT_FDCWD, "made/file", NULL, 0) == 0;
    case 3:
        return utimes("made/file", NULL) == 0;
    case 4:
        return mkstemp(strcpy(text, "made/XXXXXX")) >= 0;
    case 5:
        return mkdtemp(strcpy(text, "made/XXXXXX")) != NULL;
    default:
        return mknod("made/node", S_IFREG | 0600, 0) == 0;
    }
}

static void make(int way)
{
    (void)way;
    check(mkdir("made", 0700) == 0 && close(creat("made/file", 0600)) == 0, "making a file");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *claim;
        bool (*is_found)(int way);
        int ways;
    } kinds[] = {
        {"the name is resolved", resolve, 9}, {"the file is looked at", look, 7}, {"the file is changed", change, 7}};
    char folder[64] = "/tmp/names_after_recv_XXXXXX";
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(check_rank() != 0 || mkdtemp(folder) != NULL, "a folder");
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    check(chdir(folder) == 0, "going there");
    for (int kind = 0; kind < 3; kind++) {
        for (int way = 0; way < kinds[kind].ways; way++) {
            seen = 0;
            check_found_after_recv(kinds[kind].claim, way, make, kinds[kind].is_found, buffer, LENGTH);
            check(check_rank() != 0 || system("rm -r made") == 0, "removing it");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() != 0 || rmdir(folder) == 0, "removing the folder");
    return check_end();
}
