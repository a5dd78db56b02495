/* SPDX-License-Identifier: MIT */
#include "record/pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "record/file.h"
#include "record/name.h"

_Static_assert(sizeof(struct profile_format_directory) == PROFILE_DIRECTORY_BYTES, "the reader counts on this size");

/* File systems without fallocate get zeros written. */
static bool room_take(int file, uint64_t from_bytes, uint64_t length_bytes)
{
    static const char zeros[4096];
    if (!record_file_may_reach(from_bytes + length_bytes))
        return false;
    if (syscall(SYS_fallocate, file, 0, from_bytes, length_bytes) == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    for (uint64_t done_bytes = 0; done_bytes < length_bytes; done_bytes += sizeof zeros)
        if (syscall(SYS_pwrite64, file, zeros, sizeof zeros, from_bytes + done_bytes) != (long)sizeof zeros)
            return false;
    return true;
}

static bool directory_write(int file)
{
    struct {
        char magic[8];
        uint32_t version;
        uint32_t piece_bytes;
    } head = {PROFILE_HOST_MAGIC, PROFILE_HOST_VERSION, PROFILE_PIECE_BYTES};
    return room_take(file, 0, PROFILE_DIRECTORY_BYTES) &&
           syscall(SYS_pwrite64, file, &head, sizeof head, 0L) == (long)sizeof head;
}

/* Whole before it gets the name that others look for. Of several that make one at a time the first counts. */
static bool file_make(const struct pieces *pieces)
{
    int file = open(pieces->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool is_whole = directory_write(file);
    is_whole = close(file) == 0 && is_whole;
    bool is_there = is_whole && (link(pieces->part, pieces->path) == 0 || errno == EEXIST);
    unlink(pieces->part);
    return is_there;
}

static int file_open_shared(struct pieces *pieces, const char *directory, int rank)
{
    enum { FLAGS = O_RDWR | O_NOFOLLOW | O_CLOEXEC };
    if (!record_name_of_host(pieces->path, sizeof pieces->path, directory, "profiles") ||
        !record_name_make(pieces->part, sizeof pieces->part, directory, rank, "part"))
        return -1;
    int file = open(pieces->path, FLAGS);
    return file < 0 && errno == ENOENT && file_make(pieces) ? open(pieces->path, FLAGS) : file;
}

/* Where the folder can have no links, it is not known which host this is, or the shared file is full. */
static int file_open_own(struct pieces *pieces, const char *directory, int rank)
{
    if (!record_name_make(pieces->path, sizeof pieces->path, directory, rank, "profiles"))
        return -1;
    int file = open(pieces->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || directory_write(file))
        return file;
    close(file);
    unlink(pieces->path);
    return -1;
}

static bool directory_is_ours(const struct profile_format_directory *directory)
{
    return memcmp(directory->magic, PROFILE_HOST_MAGIC, sizeof directory->magic) == 0 &&
           directory->version == PROFILE_HOST_VERSION && directory->piece_bytes == PROFILE_PIECE_BYTES;
}

static bool directory_map(struct pieces *pieces)
{
    if (!record_file_is_own(pieces->descriptor, PROFILE_DIRECTORY_BYTES))
        return false;
    /* Not by our own entry: a program that shares memory has its receives matched first (session.h). */
    long mapped = syscall(SYS_mmap, NULL, (size_t)PROFILE_DIRECTORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                          pieces->descriptor, 0L);
    pieces->directory = mapped == -1 ? NULL : (struct profile_format_directory *)mapped;
    return pieces->directory != NULL && directory_is_ours(pieces->directory);
}

static uint64_t piece_begin_bytes(uint32_t number)
{
    return PROFILE_DIRECTORY_BYTES + (uint64_t)number * PROFILE_PIECE_BYTES;
}

static bool may_take(uint32_t first, uint32_t count)
{
    return count <= PROFILE_PIECES_MAX && first <= PROFILE_PIECES_MAX - count &&
           record_file_may_reach(piece_begin_bytes(first + count));
}

static bool file_take(struct pieces *pieces, int file)
{
    pieces->directory = NULL;
    pieces->descriptor = base_descriptor_own(file);
    return pieces->descriptor >= 0 && directory_map(pieces);
}

/* A third of what the file holds stays free for those that are in it: their pieces cannot go elsewhere. */
static bool has_ample_room(const struct pieces *pieces, uint32_t count)
{
    enum { SHARE = 3 };
    uint32_t used = atomic_load_explicit(&pieces->directory->piece_count, memory_order_relaxed);
    uint32_t spare = count + (used > PROFILE_PIECES_MAX ? PROFILE_PIECES_MAX : used) / SHARE;
    return may_take(used, spare);
}

/* The first of `count` pieces. False where they cannot be had: then nobody loses them. */
static bool pieces_take(struct profile_format_directory *directory, uint32_t count, uint32_t *first)
{
    /* relaxed: processes tell each other nothing but the number, and a reader comes when they have ended. */
    *first = atomic_load_explicit(&directory->piece_count, memory_order_relaxed);
    while (may_take(*first, count))
        if (atomic_compare_exchange_weak_explicit(&directory->piece_count, first, *first + count, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

bool pieces_map(const struct pieces *pieces, void *address, uint32_t count)
{
    struct profile_format_directory *directory = pieces->directory;
    uint32_t first;
    if (!pieces_take(directory, count, &first))
        return false;
    size_t length_bytes = (size_t)count * PROFILE_PIECE_BYTES;
    uint64_t begin_bytes = piece_begin_bytes(first);
    if (!room_take(pieces->descriptor, begin_bytes, length_bytes))
        return false;
    long mapped = syscall(SYS_mmap, address, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          pieces->descriptor, begin_bytes);
    for (uint32_t i = first; mapped != -1 && i < first + count; i++)
        atomic_store_explicit(&directory->owners[i], pieces->process, memory_order_relaxed);
    return mapped != -1;
}

static void process_begin(struct pieces *pieces)
{
    pieces->process = 1 + atomic_fetch_add_explicit(&pieces->directory->process_count, 1, memory_order_relaxed);
}

static void file_leave(struct pieces *pieces)
{
    if (pieces->directory != NULL)
        syscall(SYS_munmap, pieces->directory, (size_t)PROFILE_DIRECTORY_BYTES);
    pieces_close(pieces);
}

static uint32_t shared_open(struct pieces *pieces, const char *directory, int rank, void *address, uint32_t count)
{
    if (!file_take(pieces, file_open_shared(pieces, directory, rank)) || !has_ample_room(pieces, count))
        return 0;
    process_begin(pieces);
    return pieces_map(pieces, address, count) ? count : 0;
}

static uint32_t own_open(struct pieces *pieces, const char *directory, int rank, void *address, uint32_t count)
{
    if (!file_take(pieces, file_open_own(pieces, directory, rank)))
        return 0;
    process_begin(pieces);
    if (pieces_map(pieces, address, count))
        return count;
    return pieces_map(pieces, address, 1) ? 1 : 0;
}

uint32_t pieces_open(struct pieces *pieces, const char *directory, int rank, void *address, uint32_t count)
{
    uint32_t mapped_count = shared_open(pieces, directory, rank, address, count);
    if (mapped_count != 0)
        return mapped_count;
    file_leave(pieces);
    mapped_count = own_open(pieces, directory, rank, address, count);
    if (mapped_count == 0)
        file_leave(pieces);
    return mapped_count;
}

void pieces_close(struct pieces *pieces)
{
    base_descriptor_close(pieces->descriptor);
    pieces->descriptor = -1;
}
