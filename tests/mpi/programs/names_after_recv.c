/* SPDX-License-Identifier: MIT */
/* Claim: who has received finds by name the files that the sender made before it sent.
 * defers: receive
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 200000, WAYS = 6 };

static char text[8192];
static bool is_found(int way)
{
    glob_t found;
    struct dirent **list;
    switch (way) {
    case 0:
        return realpath("made/file", text) != NULL;
    case 1:
        return glob("made/*", 0, NULL, &found) == 0;
    case 2:
        return scandir("made", &list, NULL, NULL) == 3;
    case 3:
        return chdir("made") == 0 && chdir("..") == 0;
    case 4:
        return chmod("made/file", 0600) == 0;
    default:
        return freopen("made/file", "r", stdin) != NULL;
    }
}

static void make(int way)
{
    (void)way;
    check(mkdir("made", 0700) == 0 && close(creat("made/file", 0600)) == 0, "making a file");
}

int main(int argc, char **argv)
{
    char folder[64] = "/tmp/names_after_recv_XXXXXX";
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(check_rank() != 0 || mkdtemp(folder) != NULL, "a folder");
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    check(chdir(folder) == 0, "going there");
    for (int way = 0; way < WAYS; way++) {
        check_found_after_recv("the file is found by its name", way, make, is_found, buffer, LENGTH);
        check(check_rank() != 0 || system("rm -r made") == 0, "removing it");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_rank() != 0 || rmdir(folder) == 0, "removing the folder");
    return check_end();
}
