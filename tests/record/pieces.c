/* SPDX-License-Identifier: MIT */
/* Claim: the profiles of a host's processes stand in one file, each whole, however many there are at once; those that
 * find no room there stand in files of their own. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/text.h"
#include "record/profile_file.h"

enum { PROCESSES = 8, EVENTS = 10000, SITES = 300 };

static void profile_keep(const char *folder, int rank)
{
    struct profile_file_identity identity = {
        .rank = rank, .size = PROCESSES, .abi = "abi", .mpi_library = "library", .event_capacity = EVENTS};
    claim(profile_file_open(folder, &identity), "a profile begins");
    for (int i = 1; i <= SITES; i++)
        claim(profile_file_site_find((uintptr_t)i * 16, 1, "MPI_Send") != NULL, "a site has room");
    for (int i = 0; i < EVENTS; i++)
        profile_file_event_add(&(struct profile_format_event){.bytes = (uint64_t)rank});
    if (rank % 2 == 0) /* the others die without a word */
        profile_file_close(PROFILE_FINALIZED, 1);
}

static void processes_run(const char *folder)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        if (fork() == 0) {
            profile_keep(folder, rank);
            _exit(0);
        }
    for (int status; wait(&status) > 0;)
        claim(status == 0, "a process ends well");
}

static void file_find(char *path, size_t path_bytes, const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; (entry = readdir(list)) != NULL; count += entry->d_name[0] != '.')
        if (base_text_ends(entry->d_name, ".profiles"))
            snprintf(path, path_bytes, "%s/%s", folder, entry->d_name);
    closedir(list);
    claim(count == 1, "one file, and nothing else");
}

static void *file_map(const char *folder)
{
    char path[512] = "";
    struct stat status;
    file_find(path, sizeof path, folder);
    int file = open(path, O_RDONLY);
    claim(fstat(file, &status) == 0 && (status.st_mode & 0777) == 0600, "for its user's eyes");
    void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    claim(mapped != MAP_FAILED && unlink(path) == 0, "the file");
    return mapped;
}

/* The pieces of a process in their order, one after the other. */
static char *profile_collect(const struct profile_format_directory *directory, uint32_t process)
{
    char *profile = calloc(1, 4 << 20);
    size_t length = 0;
    for (uint32_t i = 0; i < directory->piece_count; i++) {
        if (directory->owners[i] != process)
            continue;
        const char *piece = (const char *)directory + PROFILE_DIRECTORY_BYTES + (size_t)i * PROFILE_PIECE_BYTES;
        memcpy(profile + length, piece, PROFILE_PIECE_BYTES);
        length += PROFILE_PIECE_BYTES;
    }
    return profile;
}

static int sites_count(const char *profile)
{
    int count = 0;
    const struct profile_format_header *header = (const struct profile_format_header *)profile;
    const char *blocks = profile + header->header_bytes;
    for (uint32_t i = 1; i < header->used_blocks;) {
        uint32_t kind = ((const uint32_t *)(blocks + (size_t)i * PROFILE_BLOCK_BYTES))[0];
        const struct profile_format_events *events =
            (const struct profile_format_events *)(blocks + (size_t)i * PROFILE_BLOCK_BYTES);
        count += kind == PROFILE_SITE;
        i += kind == PROFILE_SITE ? 3 : kind == PROFILE_EVENTS ? events->block_count : 1;
    }
    return count;
}

static int process_check(const struct profile_format_directory *directory, uint32_t process)
{
    char *profile = profile_collect(directory, process);
    const struct profile_format_header *header = (const struct profile_format_header *)profile;
    int rank = header->rank;
    claim(memcmp(header->magic, PROFILE_MAGIC, sizeof header->magic) == 0, "a profile begins in its first piece");
    claim(header->state == (rank % 2 == 0 ? PROFILE_FINALIZED : PROFILE_RUNNING), "how it ended");
    claim(sites_count(profile) == SITES, "every site is there");
    free(profile);
    return 1 << rank;
}

/* The file is no longer one that can grow, as on a full disk. */
static void full_disk_check(const char *folder)
{
    struct profile_file_identity identity = {.size = 1, .abi = "abi", .mpi_library = "library"};
    claim(profile_file_open(folder, &identity), "a profile begins");
    int blocked = open("/dev/null", O_RDONLY);
    claim(dup2(blocked, profile_file.pieces.descriptor) >= 0, "the disk is full");
    uint32_t before = profile_file.pieces.directory->piece_count;
    int sites = 0;
    while (profile_file_site_find((uintptr_t)(sites + 1) * 16, 1, "MPI_Send") != NULL)
        sites++;
    for (int i = 0; i < SITES; i++)
        claim(profile_file_site_find((uintptr_t)(sites + 2 + i) * 16, 1, "MPI_Send") == NULL, "there is no room");
    claim(sites > 0 && profile_file.header->lost_calls == SITES + 1, "calls without a site are counted");
    claim(profile_file.pieces.directory->piece_count == before + 1, "one piece is lost, not one for each call");
    profile_file_close(PROFILE_FINALIZED, 1);
}

static void directory_fill(const char *path)
{
    struct profile_format_directory directory;
    const uint32_t every = PROFILE_PIECES_MAX;
    int file = open(path, O_WRONLY);
    off_t place = (char *)&directory.piece_count - (char *)&directory;
    claim(file >= 0 && pwrite(file, &every, sizeof every, place) == (ssize_t)sizeof every, "the directory");
    close(file);
}

/* Room for what begins, and little more. */
static void limit_lower(const char *path)
{
    struct stat status;
    claim(stat(path, &status) == 0, "the file");
    struct rlimit limit = {(rlim_t)status.st_size + 8 * PROFILE_PIECE_BYTES, RLIM_INFINITY};
    claim(setrlimit(RLIMIT_FSIZE, &limit) == 0, "the limit of file sizes");
}

/* A file that has been filled by others is left as it is, and the next process has its own. */
static void no_room_check(const char *folder, void (*fill)(const char *path), const char *text)
{
    char path[512];
    char other[600];
    struct stat before;
    struct stat after;
    int status = 0;
    processes_run(folder);
    file_find(path, sizeof path, folder);
    snprintf(other, sizeof other, "%s-full", folder);
    claim(stat(path, &before) == 0, "the file");
    if (fork() == 0) {
        fill(path);
        profile_keep(folder, 0);
        _exit(0);
    }
    claim(wait(&status) > 0 && status == 0, text);
    claim(stat(path, &after) == 0 && before.st_size == after.st_size, "the shared file stays as it is");
    claim(rename(path, other) == 0, "it goes out of the way");
    const struct profile_format_directory *directory = file_map(folder);
    claim(directory->process_count == 1 && process_check(directory, 1) == 1, "a whole profile in a file of its own");
    claim(unlink(other) == 0, "the shared file can be removed");
}

int main(void)
{
    char folder[] = "/tmp/lapwing-pieces-XXXXXX";
    claim(mkdtemp(folder) != NULL, "a folder");
    processes_run(folder);
    const struct profile_format_directory *directory = file_map(folder);
    int ranks = 0;
    for (uint32_t process = 1; process <= PROCESSES; process++)
        ranks |= process_check(directory, process);
    claim(ranks == (1 << PROCESSES) - 1, "every rank is there");
    no_room_check(folder, directory_fill, "all pieces are taken");
    no_room_check(folder, limit_lower, "the file has nearly reached `ulimit -f`");
    full_disk_check(folder);
    file_map(folder);
    claim(rmdir(folder) == 0, "nothing is left");
    return 0;
}
