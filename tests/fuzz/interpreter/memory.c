/* SPDX-License-Identifier: MIT */
/* Buffers of every kind of memory, and touches of every kind. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

/* As in tests/fuzz/language.py. */
enum kind {
    KIND_NONE,
    KIND_HEAP,
    KIND_ALIGNED,
    KIND_MAPPED,
    KIND_HUGE,
    KIND_STATIC, /* side by side with others in .bss */
    KIND_STACK,
    KIND_MPI,
    KIND_ARENA, /* side by side with others in one mapping */
    KIND_SHARED,
    KIND_FILE,
};

enum { ARENA_BYTES = 8 << 20, HUGE_BYTES = 2 << 20, PIPE_BYTES = 60000, PLACE_ALIGNMENT_BYTES = 8 };

struct buffer {
    enum kind kind;
    unsigned char *base;
    size_t length_bytes;
    size_t mapped_bytes; /* of a mapping of its own */
};

struct place {
    unsigned char *base;
    size_t used_bytes;
    size_t length_bytes;
};

static struct buffer buffers[BUFFERS_MAX];
static _Alignas(PLACE_ALIGNMENT_BYTES) unsigned char static_bytes[ARENA_BYTES];
static unsigned char *stack_bytes; /* in main's frame */
static struct place places[3];     /* .bss, stack, arena */
static int pipe_ends[2], socket_ends[2], scratch_file;
static FILE *scratch_stream;

static size_t page_bytes(void)
{
    return 4096;
}

static size_t round_up(size_t length_bytes, size_t unit_bytes)
{
    return (length_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

static unsigned char *mapping_new(size_t length_bytes, int flags, int file)
{
    void *base = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (base == MAP_FAILED)
        machine_refuse("no memory");
    return base;
}

static unsigned char *place_take(struct place *place, size_t length_bytes)
{
    unsigned char *base = place->base + place->used_bytes;
    size_t taken_bytes = round_up(length_bytes, PLACE_ALIGNMENT_BYTES);
    if (place->used_bytes + taken_bytes > place->length_bytes)
        machine_refuse("no room");
    place->used_bytes += taken_bytes;
    return base;
}

static int scratch_open(void)
{
    char path[] = "/tmp/lapwing-fuzz-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        machine_refuse("no scratch file");
    unlink(path);
    return file;
}

static void scratch_begin(void)
{
    if (scratch_file != 0)
        return;
    scratch_file = scratch_open();
    scratch_stream = fdopen(scratch_open(), "w+");
    if (pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends) != 0 || !scratch_stream)
        machine_refuse("no pipe");
}

void memory_stack_set(unsigned char *bytes)
{
    stack_bytes = bytes;
}

void memory_begin(void)
{
    scratch_begin();
    places[0] = (struct place){static_bytes, 0, ARENA_BYTES};
    places[1] = (struct place){stack_bytes, 0, MACHINE_STACK_BYTES};
    places[2] = (struct place){mapping_new(ARENA_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1), 0, ARENA_BYTES};
}

unsigned char *memory_at(int64_t buffer, int64_t offset)
{
    if (buffer == -1)
        return MPI_IN_PLACE;
    if (buffer < 0 || buffer >= BUFFERS_MAX || buffers[buffer].kind == KIND_NONE)
        machine_refuse("no such buffer");
    if (offset < -(1 << 20) || offset > (int64_t)buffers[buffer].length_bytes + (1 << 20))
        machine_refuse("beyond the buffer");
    return buffers[buffer].base + offset;
}

/* A range that lies within its buffer. */
static unsigned char *memory_range(const int64_t *words, int64_t length_bytes)
{
    unsigned char *base = memory_at(words[0], words[1]);
    if (words[1] < 0 || words[1] + length_bytes > (int64_t)buffers[words[0]].length_bytes)
        machine_refuse("beyond the buffer");
    return base;
}

static void bytes_fill(unsigned char *bytes, size_t length_bytes, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < length_bytes; i++) {
        if (i % 8 == 0)
            state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(state >> (8 * (i % 8)));
    }
}

static void buffer_map(struct buffer *buffer)
{
    int file = buffer->kind == KIND_FILE ? scratch_open() : -1;
    int sharing = buffer->kind == KIND_SHARED ? MAP_SHARED : MAP_PRIVATE;
    size_t unit_bytes = buffer->kind == KIND_HUGE ? HUGE_BYTES : page_bytes();
    buffer->mapped_bytes = round_up(buffer->length_bytes + 1, unit_bytes);
    if (file >= 0 && ftruncate(file, (off_t)buffer->mapped_bytes) != 0)
        machine_refuse("no file to map");
    buffer->base = mapping_new(buffer->mapped_bytes, sharing | (file < 0 ? MAP_ANONYMOUS : 0), file);
    if (buffer->kind == KIND_HUGE)
        madvise(buffer->base, buffer->mapped_bytes, MADV_HUGEPAGE);
    if (file >= 0)
        close(file);
}

/* Every other block with a mapping of its own, the rest among blocks of anybody. */
static void *heap_block(size_t length_bytes)
{
    enum { MAPPED_FROM_BYTES = 4096, NEVER_MAPPED_BYTES = 1 << 30 };
    mallopt(M_MMAP_THRESHOLD, length_bytes % 2 ? MAPPED_FROM_BYTES : NEVER_MAPPED_BYTES);
    return malloc(length_bytes);
}

static void buffer_allocate(struct buffer *buffer)
{
    void *base = NULL;
    if (buffer->kind == KIND_HEAP)
        base = heap_block(buffer->length_bytes);
    else if (buffer->kind == KIND_ALIGNED && posix_memalign(&base, page_bytes(), buffer->length_bytes) != 0)
        base = NULL;
    else if (buffer->kind == KIND_MPI)
        MPI_Alloc_mem((MPI_Aint)buffer->length_bytes, MPI_INFO_NULL, &base);
    if (!base)
        machine_refuse("no memory");
    buffer->base = base;
}

static bool kind_is_mapping(enum kind kind)
{
    return kind == KIND_MAPPED || kind == KIND_HUGE || kind == KIND_SHARED || kind == KIND_FILE;
}

static struct place *kind_place(enum kind kind)
{
    if (kind == KIND_STATIC)
        return &places[0];
    if (kind == KIND_STACK)
        return &places[1];
    return kind == KIND_ARENA ? &places[2] : NULL;
}

/* new buffer kind length seed */
static void run_new(const int64_t *a)
{
    if (a[0] < 0 || a[0] >= BUFFERS_MAX || buffers[a[0]].kind != KIND_NONE)
        machine_refuse("the buffer exists");
    struct buffer *buffer = &buffers[a[0]];
    *buffer = (struct buffer){.kind = (enum kind)a[1], .length_bytes = (size_t)a[2]};
    if (kind_place(buffer->kind))
        buffer->base = place_take(kind_place(buffer->kind), buffer->length_bytes);
    else if (kind_is_mapping(buffer->kind))
        buffer_map(buffer);
    else
        buffer_allocate(buffer);
    bytes_fill(buffer->base, buffer->length_bytes, (uint64_t)a[3]);
}

static void buffer_free(struct buffer *buffer)
{
    if (kind_is_mapping(buffer->kind))
        munmap(buffer->base, buffer->mapped_bytes);
    else if (buffer->kind == KIND_MPI)
        MPI_Free_mem(buffer->base);
    else if (buffer->kind == KIND_HEAP || buffer->kind == KIND_ALIGNED)
        free(buffer->base);
    buffer->kind = KIND_NONE;
}

/* free buffer */
static void run_free(const int64_t *a)
{
    memory_at(a[0], 0);
    buffer_free(&buffers[a[0]]);
}

static void buffer_resize(struct buffer *buffer, size_t length_bytes)
{
    if (buffer->kind == KIND_HEAP) {
        buffer->base = realloc(buffer->base, length_bytes);
    } else if (buffer->kind == KIND_MAPPED) {
        size_t wanted_bytes = round_up(length_bytes + 1, page_bytes());
        buffer->base = mremap(buffer->base, buffer->mapped_bytes, wanted_bytes, MREMAP_MAYMOVE);
        buffer->mapped_bytes = wanted_bytes;
    } else {
        machine_refuse("memory that cannot be resized");
    }
}

/* resize buffer length seed */
static void run_resize(const int64_t *a)
{
    memory_at(a[0], 0);
    struct buffer *buffer = &buffers[a[0]];
    size_t kept_bytes = buffer->length_bytes;
    buffer_resize(buffer, (size_t)a[1]);
    buffer->length_bytes = (size_t)a[1];
    if (buffer->length_bytes > kept_bytes)
        bytes_fill(buffer->base + kept_bytes, buffer->length_bytes - kept_bytes, (uint64_t)a[2]);
}

void memory_end(void)
{
    for (int i = 0; i < BUFFERS_MAX; i++) {
        if (buffers[i].kind == KIND_NONE)
            continue;
        machine_observe_bytes(buffers[i].base, buffers[i].length_bytes);
        buffer_free(&buffers[i]);
    }
    munmap(places[2].base, ARENA_BYTES);
}

static unsigned char *page_above(unsigned char *at)
{
    return (unsigned char *)round_up((uintptr_t)at, page_bytes());
}

static size_t pages_below(const unsigned char *begin, const unsigned char *end)
{
    return end <= begin ? 0 : (size_t)(end - begin) / page_bytes() * page_bytes();
}

/* discard buffer offset length: the whole pages become zero */
static void run_discard(const int64_t *a)
{
    unsigned char *base = memory_range(a, a[2]), *first = page_above(base);
    size_t length_bytes = pages_below(first, base + a[2]);
    if (length_bytes > 0)
        machine_observe((uint64_t)madvise(first, length_bytes, MADV_DONTNEED));
}

/* protect buffer offset length: the whole pages become read-only, and writable again */
static void run_protect(const int64_t *a)
{
    unsigned char *base = memory_range(a, a[2]), *first = page_above(base);
    size_t length_bytes = pages_below(first, base + a[2]);
    if (length_bytes == 0)
        return;
    machine_observe((uint64_t)mprotect(first, length_bytes, PROT_READ));
    machine_observe(*first);
    machine_observe((uint64_t)mprotect(first, length_bytes, PROT_READ | PROT_WRITE));
}

/* fill buffer offset length seed */
static void run_fill(const int64_t *a)
{
    bytes_fill(memory_range(a, a[2]), (size_t)a[2], (uint64_t)a[3]);
}

/* load buffer offset length */
static void run_load(const int64_t *a)
{
    machine_observe_bytes(memory_range(a, a[2]), (size_t)a[2]);
}

/* atomic buffer offset length: one byte here and there */
static void run_atomic(const int64_t *a)
{
    unsigned char *base = memory_range(a, a[2]);
    for (int64_t i = 0; i < a[2]; i += 509)
        machine_observe(__atomic_fetch_add(base + i, 7, __ATOMIC_RELAXED));
}

/* copy buffer offset buffer offset length */
static void run_copy(const int64_t *a)
{
    memmove(memory_range(a + 2, a[4]), memory_range(a, a[4]), (size_t)a[4]);
}

static ssize_t move_pipe(unsigned char *from, unsigned char *to, size_t length)
{
    return write(pipe_ends[1], from, length) < 0 ? -1 : read(pipe_ends[0], to, length);
}

static ssize_t move_file(unsigned char *from, unsigned char *to, size_t length)
{
    return pwrite(scratch_file, from, length, 100) < 0 ? -1 : pread(scratch_file, to, length, 100);
}

static ssize_t move_vectors(unsigned char *from, unsigned char *to, size_t length)
{
    size_t a = length / 3, b = length / 2;
    struct iovec out[] = {{from, a}, {from + a, length - a}}, in[] = {{to, b}, {to + b, length - b}};
    return writev(pipe_ends[1], out, 2) < 0 ? -1 : readv(pipe_ends[0], in, 2);
}

static ssize_t move_socket(unsigned char *from, unsigned char *to, size_t length)
{
    return send(socket_ends[1], from, length, 0) < 0 ? -1 : recv(socket_ends[0], to, length, MSG_WAITALL);
}

static ssize_t move_stream(unsigned char *from, unsigned char *to, size_t length)
{
    rewind(scratch_stream);
    size_t written = fwrite(from, 1, length, scratch_stream);
    rewind(scratch_stream);
    return written == length ? (ssize_t)fread(to, 1, length, scratch_stream) : -1;
}

static ssize_t move_messages(unsigned char *from, unsigned char *to, size_t length)
{
    size_t a = length / 4;
    struct iovec out[] = {{from, length}}, in[] = {{to, a}, {to + a, length - a}};
    struct msghdr sent = {.msg_iov = out, .msg_iovlen = 1}, received = {.msg_iov = in, .msg_iovlen = 2};
    return sendmsg(socket_ends[1], &sent, 0) < 0 ? -1 : recvmsg(socket_ends[0], &received, MSG_WAITALL);
}

/* system how buffer offset buffer offset length: through the kernel and back */
static void run_system(const int64_t *a)
{
    static ssize_t (*const moves[])(unsigned char *, unsigned char *, size_t) = {
        move_pipe, move_file, move_vectors, move_socket, move_stream, move_messages};
    size_t length_bytes = a[5] < PIPE_BYTES ? (size_t)a[5] : PIPE_BYTES;
    if (a[0] < 0 || a[0] > 5)
        machine_refuse("no such system call");
    unsigned char *from = memory_range(a + 1, a[5]), *to = memory_range(a + 3, a[5]);
    if (length_bytes > 0)
        machine_observe((uint64_t)moves[a[0]](from, to, length_bytes));
}

static void fork_child(int end, const int64_t *a)
{
    machine_observe_bytes(memory_range(a, a[2]), (size_t)a[2]);
    bytes_fill(memory_range(a, a[2]), (size_t)a[2], 1); /* must stay the child's own */
    _exit(write(end, &machine_digest, sizeof machine_digest) == sizeof machine_digest ? 0 : 1);
}

/* fork buffer offset length: a child looks at the memory, and writes to it */
static void run_fork(const int64_t *a)
{
    int status = -1;
    uint64_t seen = 0;
    pid_t child = fork();
    if (child == 0)
        fork_child(pipe_ends[1], a);
    waitpid(child, &status, 0);
    machine_observe((uint64_t)status);
    if (status == 0 && read(pipe_ends[0], &seen, sizeof seen) == sizeof seen)
        machine_observe(seen);
}

/* pause us: so that the other ranks run ahead */
static void run_pause(const int64_t *a)
{
    struct timespec pause = {0, a[0] * 1000};
    nanosleep(&pause, NULL);
}

const struct instruction memory_instructions[] = {
    {"new", run_new},
    {"free", run_free},
    {"resize", run_resize},
    {"discard", run_discard},
    {"protect", run_protect},
    {"fill", run_fill},
    {"load", run_load},
    {"atomic", run_atomic},
    {"copy", run_copy},
    {"system", run_system},
    {"fork", run_fork},
    {"pause", run_pause},
    {NULL, NULL},
};
